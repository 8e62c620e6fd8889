"""Names that programs of LiveCodeBench, APPS and LeetCode use without importing them."""

from __future__ import annotations

import builtins
import importlib
import sys
from types import CodeType

from prorl_sandbox.box import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODULES = (
    "string", "re", "datetime", "fractions", "collections", "heapq", "bisect", "copy", "operator", "math",
    "itertools", "functools", "io", "sys", "json", "typing", "time", "decimal",
)  # fmt: skip
"""Modules whose public names are provided. A later module overrides an earlier one; builtins override all."""
_SLOW = {
    "random": "betavariate choice choices expovariate gauss getrandbits normalvariate randbytes randint random randrange"
    " sample seed shuffle triangular uniform",
    "statistics": "fmean geometric_mean harmonic_mean mean median median_high median_low mode multimode pstdev pvariance"
    " quantiles stdev variance",
}
"""Modules that are imported only if a program uses one of these names."""
RECURSION_LIMIT = 50_000
_DYNAMIC = frozenset({"eval", "exec", "globals"})
_names: dict[str, Any] = {}


def prepare() -> None:
    for module in map(importlib.import_module, MODULES):
        public = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
        _names.update((name, getattr(module, name)) for name in public)
    _names.update((name, importlib.import_module(name)) for name in MODULES)
    _names.update(inf=float("inf"), nan=float("nan"), **objects.KINDS)
    for name in vars(builtins):
        _names.pop(name, None)


def provide(code: CodeType) -> None:
    """Make the standard-library names that ``code`` uses available as builtins, and raise the recursion limit."""
    used, codes = set[str](), [code]
    while codes:
        one = codes.pop()
        used.update(one.co_names)
        codes += [constant for constant in one.co_consts if type(constant) is CodeType]
    if used & _DYNAMIC:
        used.update(_names)
    _names.update(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, argv=sys.argv)
    vars(builtins).update((name, _names[name]) for name in used & _names.keys())
    for module, names in _SLOW.items():
        wanted = used & {*names.split(), module}
        if wanted:
            loaded = importlib.import_module(module)
            slow = {name: getattr(loaded, name, loaded) for name in wanted - vars(builtins).keys()}
            vars(builtins).update(slow | ({module: loaded} if module in used else {}))
    sys.setrecursionlimit(max(RECURSION_LIMIT, sys.getrecursionlimit()))
