"""Import common modules once, before processes are forked."""

from __future__ import annotations

import gc
import importlib
import os
import sys

from prorl_sandbox.box import limits, prelude, syscalls

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
"""Environment variables that limit numpy to one thread. A process with several cannot enter namespaces."""
_reseed: list[Callable[[], Any]] = []


def preload() -> None:
    for name in COMMON:
        importlib.import_module(name)
    prelude.prepare()
    compile("pass", "", "exec")


def load_packages(folder: str, modules: Sequence[str]) -> None:
    """Append ``folder`` to the import path and import ``modules`` from it."""
    sys.path.append(folder)
    os.environ.update(ONE_THREAD)
    for name in modules:
        importlib.import_module(name)


def settle_packages(modules: Sequence[str]) -> None:
    """Prepare for forking after :func:`load_packages`. Raises RuntimeError if a module started threads."""
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError(f"importing {' '.join(modules)} starts threads")
    loaded = sys.modules
    generator = getattr(loaded.get("numpy.random"), "Generator", None)
    seeded = {
        getattr(loaded.get("random"), "Random", None),
        getattr(loaded.get("numpy.random"), "RandomState", None),
    }
    for value in gc.get_objects():
        if type(value) in seeded:
            _reseed.append(value.seed)
        elif type(value) is generator:
            _reseed.append(_seeding(value.bit_generator))
    gc.collect()
    syscalls.use_huge_pages()
    limits.note_base()


def reseed() -> None:
    """Reseed the random generators of imported packages. Forked processes would otherwise draw equal numbers."""
    for seed in _reseed:
        seed()


def _seeding(bits: Any) -> Callable[[], None]:
    def seed() -> None:
        bits.state = type(bits)().state

    return seed
