"""Modules that programs import most, loaded once in the template so that no box pays for them.

The standard library's common ones always; an environment's packages where programs name them. Each
costs every later fork a little, so the list is what generated solutions really use and nothing that
is slow to fork (no ssl, asyncio, multiprocessing; no random, which draws a new seed after each fork):
those still can be imported inside a box.
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
"""What keeps linear algebra to one thread: a process with more cannot enter namespaces, and a box has
one share of the processors."""
_reseed: list[Callable[[], Any]] = []


def preload() -> None:
    """Import them. A module that this interpreter lacks raises ImportError: it would in a box too.

    The first ``compile`` builds the types of syntax trees: 2 ms that no box should pay.
    """
    for name in COMMON:
        importlib.import_module(name)
    compile("pass", "", "exec")


def load_packages(folder: str, modules: Sequence[str]) -> None:
    """Make an environment's packages importable, after the standard library, and import ``modules``.

    Raises what an import raises.
    """
    sys.path.append(folder)
    os.environ.update(ONE_THREAD)
    for name in modules:
        importlib.import_module(name)


def settle_packages(modules: Sequence[str]) -> None:
    """Make this process a good one to fork after ``load_packages``. Needs ``/proc``.

    Raises RuntimeError where one of the modules starts threads.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError(f"one of {' '.join(modules)} starts threads")
    _reseed.extend(_sources_of_chance())
    gc.collect()
    syscalls.use_huge_pages()
    limits.note_base()


def take_fresh_chance() -> None:
    """Seed anew what packages draw random numbers from: else all boxes would draw the same ones.

    The standard library's own generator does so itself after a fork.
    """
    for seed in _reseed:
        seed()


def _sources_of_chance() -> list[Callable[[], Any]]:
    """Return what seeds each random generator that the loaded modules hold. Imports nothing."""
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
    """Return what gives one of numpy's bit generators a new state of its kind."""

    def seed() -> None:
        bits.state = type(bits)().state

    return seed
