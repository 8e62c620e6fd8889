"""Modules that programs import most, loaded once in the template so that no box pays for them. Each one makes every
later fork a little slower, so slow ones (ssl, asyncio, multiprocessing, and random, which reseeds after each fork) are
left to be imported in the box.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys

from prorl_sandbox.box import limits, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

COMMON = (
    "_sitebuiltins", "array", "atexit", "bisect", "cmath", "collections", "contextlib", "copy",
    "datetime", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json",
    "math", "operator", "re", "string", "time", "traceback", "types", "typing",
)  # fmt: skip
ONE_THREAD = dict.fromkeys(
    ("MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
"""Limits linear algebra to one thread: a process with more cannot enter namespaces, and a box has one share of the
processors.
"""
_reseed: list[Callable[[], Any]] = []


def preload() -> None:
    """Import the common modules. Raises ImportError if the interpreter lacks one.

    The first ``compile`` creates the syntax tree types, which takes 2 ms.
    """
    for name in COMMON:
        importlib.import_module(name)
    compile("pass", "", "exec")


def load_packages(folder: str, modules: Sequence[str]) -> None:
    """Make an environment's packages importable, after the standard library, and import ``modules``.

    Raises whatever the imports raise.
    """
    sys.path.append(folder)
    os.environ.update(ONE_THREAD)
    for name in modules:
        importlib.import_module(name)


def settle_packages(modules: Sequence[str]) -> None:
    """Prepare this process for forking after ``load_packages``. Needs ``/proc``; raises RuntimeError if a module has
    started threads.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError(f"one of {' '.join(modules)} starts threads")
    _reseed.extend(_sources_of_chance())
    gc.collect()
    syscalls.use_huge_pages()
    limits.note_base()


def take_fresh_chance() -> None:
    """Reseed the packages' random generators, which would otherwise draw the same numbers in every box.

    The standard library's generator reseeds itself after a fork.
    """
    for seed in _reseed:
        seed()


def _sources_of_chance() -> list[Callable[[], Any]]:
    """Return a reseeding function for each random generator of the loaded modules. Imports nothing."""
    found: list[Callable[[], Any]] = []
    modules = sys.modules
    generator = getattr(modules.get("numpy.random"), "Generator", None)
    seeded = {
        getattr(modules.get("random"), "Random", None),
        getattr(modules.get("numpy.random"), "RandomState", None),
    }
    for one in gc.get_objects():
        if type(one) in seeded:
            found.append(one.seed)
        elif type(one) is generator:
            found.append(_seeding(one.bit_generator))
    return found


def _seeding(bits: Any) -> Callable[[], None]:
    """Return a function that gives one of numpy's bit generators a new state."""

    def seed() -> None:
        bits.state = type(bits)().state

    return seed
