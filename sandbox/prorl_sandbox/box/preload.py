"""Modules that programs import most, loaded once in the template so that no box pays for them.

Each costs every later fork a little, so the list is what generated solutions really use and nothing
that is slow to fork (no ssl, asyncio, multiprocessing; no random, which draws a new seed after each
fork): those still can be imported inside a box.
"""

from __future__ import annotations

import importlib

COMMON = (
    "_sitebuiltins", "array", "atexit", "bisect", "cmath", "collections", "contextlib", "copy",
    "datetime", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json",
    "math", "operator", "re", "string", "time", "traceback", "types", "typing",
)  # fmt: skip


def preload() -> None:
    """Import them. A module that this interpreter lacks raises ImportError: it would in a box too.

    The first ``compile`` builds the types of syntax trees: 2 ms that no box should pay.
    """
    for name in COMMON:
        importlib.import_module(name)
    compile("pass", "", "exec")
