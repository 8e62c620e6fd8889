"""pytest inside a session's interpreter: tests are collected, then run one by one in forks of it.

The tests are trusted, what they import is not, and both share this process: a submission that patches
what runs or compares can lie. What is done against it makes a lie an effort and not an accident: the
submission's folder comes last on the path and pytest never looks into it; what is installed comes
before what lies, or was put, beside the tests; the tests' code must be the
code that was collected without it; the callables of every module that was there before it must be
those that were there. See ``docs/concepts/sandbox.md`` for what remains.
"""

from __future__ import annotations

import builtins
import os
import shutil
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

from prorl_sandbox.box import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

# Bound before any program runs, see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

PROJECT, TESTS = "project", "tests"
_LONGEST_MESSAGE = 4000
_OPTIONS = (
    "-q", "-s", "--no-header", "-c", "/dev/null", "-p", "no:cacheprovider", "-p", "no:faulthandler",
    "-p", "no:junitxml", "-p", "no:pastebin",
)  # fmt: skip


class _State:
    """What a collection leaves for the runs of its tests."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}
        self.before: dict[tuple[str, str], tuple[Any, Any]] = {}
        self.config: Any = None


_state = _State()


def collect(order: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the tests of ``order["file"]``; return their names with a digest of their code each,
    the same of all functions in the tests' own modules, what went wrong, and which callables have
    changed meanwhile.

    ``tests``: all files of the tests; ``files``: the submission's, laid out beside them and last on
    the path, or None. Without them the modules named ``stubs`` are stood in for.
    """
    import pytest
    from _pytest.config import _prepareconfig
    from _pytest.main import Session

    scratch = os.getcwd()
    for name, content in ((PROJECT, order["files"] or {}), (TESTS, order["tests"])):
        shutil.rmtree(name, ignore_errors=True)
        os.mkdir(name)
        files.lay(content, name)
    os.chdir(PROJECT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    _state.before = dict(_callables())
    others = [finder for finder in sys.meta_path if not isinstance(finder, _Installed)]
    sys.meta_path[:] = [_Installed(tuple(sys.path), _names_of(order["tests"])), *others]
    if order["files"] is None:
        sys.meta_path.append(_Stubs(order["stubs"]))
    else:
        sys.path += [os.getcwd(), os.path.join(os.getcwd(), "src")]
    root = os.path.join(scratch, TESTS)
    where = ("--rootdir", root, "--confcutdir", root, os.path.join(root, order["file"]))
    _state.config = config = _prepareconfig([*_OPTIONS, *where], [])
    config._do_configure()
    session: Any = Session.from_config(config)
    broken = _Broken()
    config.pluginmanager.register(broken)
    config.hook.pytest_sessionstart(session=session)
    try:
        session.perform_collect()
    except (pytest.UsageError, Session.Failed) as error:
        broken.text = broken.text or str(error)
    _state.items = {item.nodeid: item for item in session.items}
    return {
        "tests": {name: digest(item) for name, item in _state.items.items()},
        "code": _code_of(order["tests"]),
        "broken": broken.text[-_LONGEST_MESSAGE:],
        "changed": changed(),
    }


class _Broken:
    """A plug-in that keeps the text of a failed collection."""

    text = ""

    def pytest_collectreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed:
            self.text = str(report.longrepr)


def run_test(order: Mapping[str, Any]) -> dict[str, Any]:
    """Run one collected test; return its status and what there is to say of it."""
    from _pytest.runner import runtestprotocol

    item = _state.items.get(order["test"])
    if item is None:
        return {"status": "error", "message": "it is not there together with the submission"}
    sys.settrace(None)
    sys.setprofile(None)
    if digest(item) != order["digest"] or not _same(order["code"]):
        return {"status": "error", "message": "the code of the tests was changed"}
    status, text = "passed", ""
    reports = runtestprotocol(item, nextitem=None, log=False)
    for report in reports:
        if report.outcome == "failed":
            status = "failed" if report.when == "call" and status != "error" else "error"
        elif report.outcome == "skipped" and status == "passed":
            status = "skipped"
        if report.outcome != "passed" and report.longrepr is not None:
            text = text or _text(report.longrepr)
    if [report.when for report in reports if report.outcome == "passed"] != _PHASES:
        status = "error" if status == "passed" else status
    return {"status": status, "message": text[-_LONGEST_MESSAGE:]}


_PHASES = ["setup", "call", "teardown"]


def _text(shown: Any) -> str:
    """Return what pytest shows of a failure, of a skipped test the reason alone."""
    return str(shown[2]) if isinstance(shown, tuple) else str(shown)


def digest(item: Any) -> str:
    """Return what tells the code of a test's function from any other."""
    function = getattr(item, "function", None) or getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    return _digest_of(getattr(function, "__code__", None))


def _digest_of(code: Any) -> str:
    import hashlib

    return hashlib.sha256(_spell(code).encode("utf-8", "replace")).hexdigest()


def _code_of(tests: Mapping[str, bytes]) -> dict[str, str]:
    """Return digests of all functions that modules of the tests' own files define."""
    parts = _names_of(tests)
    own = {name for name in sys.modules if name.partition(".")[0] in parts}
    return {
        f"{module}:{name}": _digest_of(code)
        for (module, name), (thing, code) in _callables(only=own)
        if code is not None and getattr(thing, "__module__", module) == module
    }


def _names_of(tests: Mapping[str, bytes]) -> set[str]:
    return {part for name in tests for part in name.removesuffix(".py").split("/")}


def _same(code: Mapping[str, str]) -> bool:
    """Tell whether these functions still have the code that they had without the submission."""
    only = {name.partition(":")[0] for name in code}
    now = {f"{module}:{name}": it for (module, name), (_, it) in _callables(only=only)}
    return all(name in now and _digest_of(now[name]) == one for name, one in code.items())


def _spell(code: Any) -> str:
    if not isinstance(code, CodeType):
        return "none"
    constants = [_spell(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return f"{code.co_code.hex()} {constants} {names}"


def changed() -> list[str]:
    """Return the names of callables that are not what they were before the collection."""
    now = dict(_callables(only={module for module, _ in _state.before}))
    return sorted(
        f"{module}.{name}"
        for (module, name), (thing, code) in _state.before.items()
        if (there := now.get((module, name))) is None
        or there[0] is not thing
        or there[1] is not code
    )


def _callables(
    only: set[str] | None = None,
) -> Iterator[tuple[tuple[str, str], tuple[Any, Any]]]:
    """Yield the functions and classes of all modules, and the functions in those classes, each with its
    code."""
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or (only is not None and name not in only):
            continue
        for key, thing in list(vars(module).items()):
            if isinstance(thing, FunctionType | BuiltinFunctionType | type):
                yield (name, key), (thing, getattr(thing, "__code__", None))
            if isinstance(thing, type) and thing.__module__ == name:
                for inner, method in list(vars(thing).items()):
                    if isinstance(method, FunctionType | classmethod | staticmethod | property):
                        function = getattr(method, "__func__", getattr(method, "fget", method))
                        code = getattr(function, "__code__", None)
                        yield (name, f"{key}.{inner}"), (method, code)


class _Installed:
    """Finds what is installed, but for what has the name of a file of the tests."""

    def __init__(self, path: Sequence[str], own: set[str]) -> None:
        self._path, self._own = path, own

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find a module that is in no package, as it was found before anything was laid out."""
        if path is not None or name in self._own:
            return None
        found = PathFinder.find_spec(name, self._path)
        return found if found is not None and found.loader is not None else None


class _Stubs:
    """Finds modules that a submission would bring, when the tests are collected without it."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find any module below the known names."""
        if name.partition(".")[0] not in self._names:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        """Make a module that has whatever name it is asked for."""
        return _StubModule(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """There is nothing to run."""


class _StubModule(ModuleType):
    __all__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _stub(name)


class _Stub(type):
    """The type of what a stub module has: classes to derive from, to call and to decorate with."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith(("_", "pytest")):
            raise AttributeError(name)
        return _stub(name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__module__ != __name__:  # a class of the tests, derived from one
            return object.__new__(cls)  # type: ignore[arg-type]
        one = args[0] if len(args) == 1 and not kwargs else None
        return one if isinstance(one, FunctionType | type) else _stub(cls.__name__)

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __getitem__(cls, key: object) -> Any:
        return _stub(cls.__name__)

    def __len__(cls) -> int:
        return 0


def _stub(name: str) -> Any:
    return _Stub(name, (), {})
