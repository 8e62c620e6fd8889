"""Find the specs of prorl and of plug-ins, through entry points and plug-in files.

A *spec* is a frozen dataclass with a ``name`` and functions, such as a verifier. A *door* is a registry of specs.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from prorl_common.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints
    from importlib.resources.abc import Traversable

ENVIRONMENT = "PRORL_PLUGINS"
"""Environment variable that passes plug-in files to child processes: a JSON list of [path, sha256]."""
OURS = "prorl"
"""Name of prorl's own distribution."""


def _entry_points(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # slow import: not for every --help

    return entry_points(group=group)


def _files(package: str) -> Iterator[Traversable]:
    from importlib import resources

    return resources.files(package).iterdir()


class Named(Protocol):
    """Interface of the objects that a ``Door`` registers."""

    @property
    def name(self) -> str:
        """The name used in configs, recipes and tasks."""
        ...


S = TypeVar("S", bound=Named)


class PluginError(UserError):
    """Raised if a plug-in is invalid or cannot be loaded."""


class UnknownNameError(UserError):
    """Raised for an unknown name. The message lists the known ones."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a registered object comes from: a distribution and version, or a plug-in file and hash ``sha256:...``."""

    source: str
    version: str

    @property
    def is_ours(self) -> bool:
        return self.source == OURS

    def __str__(self) -> str:
        return f"{self.source} {self.version[:19]}"

    def record(self, group: str, name: str) -> dict[str, str]:
        """Return this origin of the object ``name`` in the form used in manifests and run folders."""
        return {"group": group, "name": name, "source": self.source, "version": self.version}


@dataclass(frozen=True, slots=True)
class PluginFile:
    path: Path
    sha256: str
    module: ModuleType

    @property
    def origin(self) -> Origin:
        return Origin(self.path.name, f"sha256:{self.sha256}")


class _Loaded:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.files: dict[Path, PluginFile] = {}
        self.generation = object()
        self.inherited = False


_LOADED = _Loaded()


def use_plugins(paths: Iterable[str | Path]) -> tuple[PluginFile, ...]:
    """Load plug-in files, also for child processes started later. Returns all loaded files.

    Raises PluginError if a file is missing, raises an error or defines no object such as a ``VerifierSpec``.
    """
    loaded = plugin_files()
    with _LOADED.lock:
        for name in paths:
            path = Path(name).resolve()
            if path not in _LOADED.files:
                _load(path, None)
        loaded = tuple(dict.fromkeys(_LOADED.files.values()))
        if loaded:
            os.environ.update(plugin_environment())
    return loaded


def plugin_files() -> tuple[PluginFile, ...]:
    """Return the plug-in files that this process or its parent loaded. Raises PluginError if one has changed."""
    with _LOADED.lock:
        if not _LOADED.inherited:
            _LOADED.inherited = True
            for path, sha256 in json.loads(os.environ.get(ENVIRONMENT, "[]")):
                if Path(path) not in _LOADED.files:
                    _load(Path(path), sha256)
        return tuple(dict.fromkeys(_LOADED.files.values()))


def plugin_environment() -> dict[str, str]:
    """Return the environment variable from which a child process loads the same plug-in files."""
    files = [[str(file.path), file.sha256] for file in plugin_files()]
    return {ENVIRONMENT: json.dumps(files)} if files else {}


def what_failed(error: Exception) -> str:
    """Return a one-line message for an error in a plug-in, with file and line."""
    import traceback

    text = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")[:400]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{text} ({Path(error.filename).name}, line {error.lineno})"
    places = [(f.f_code.co_filename, n) for f, n in traceback.walk_tb(error.__traceback__)]
    beyond = [place for place in places if place[0] != places[0][0]]
    lines = [n for file, n in beyond if file == beyond[0][0]]
    return f"{text} ({Path(beyond[0][0]).name}, line {lines[-1]})" if lines else text


def _load(path: Path, expected: str | None) -> None:
    """Execute a plug-in file as a module. Raises PluginError, also if its SHA-256 differs from ``expected``."""
    if path.suffix != ".py":
        raise PluginError(f"plug-in {path} is not a Python file: its name must end in .py")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise PluginError(f"plug-in {path} cannot be read: {error.strerror or error}") from error
    sha256 = hashlib.sha256(source).hexdigest()
    if expected is not None and sha256 != expected:
        raise PluginError(
            f"plug-in {path} has changed since this command started: run the command again"
        )
    for file in _LOADED.files.values():
        if file.sha256 == sha256:
            _LOADED.files[path] = file
            return
    module = ModuleType(f"prorl_plugin_{path.stem}_{sha256[:12]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the user's own code
    except Exception as error:
        del sys.modules[module.__name__]
        raise PluginError(f"plug-in {path} cannot be loaded: {what_failed(error)}") from error
    if not any(_looks_like_spec(value) for value in vars(module).values()):
        raise PluginError(
            f"plug-in {path} contains no spec: define one at module level, like SPEC = VerifierSpec(...)"
        )
    for value in vars(module).values():
        if _looks_like_spec(value):
            check_signatures(value, str(path))
    _LOADED.files[path] = PluginFile(path, sha256, module)
    _LOADED.generation = object()


def check_signatures(spec: Any, where: str) -> None:
    """Raise PluginError if a function in ``spec`` does not accept the arguments in its field's annotation."""
    import ast
    import dataclasses
    import inspect

    for field in dataclasses.fields(spec) if dataclasses.is_dataclass(spec) else ():
        if not isinstance(field.type, str):
            continue
        function = getattr(spec, field.name)
        if dataclasses.is_dataclass(function) and not isinstance(function, type):
            check_signatures(function, where)
        expected = _parameters(ast.parse(field.type, mode="eval"))
        if expected is None or function is None:
            continue
        called = f"{field.name}({', '.join(expected)})"
        trouble = "" if callable(function) else "it is not a function"
        with contextlib.suppress(ValueError):  # a built-in function without a signature
            try:
                signature = inspect.signature(function) if callable(function) else None
                if signature is not None:
                    signature.bind(*expected)
            except TypeError as error:
                name = getattr(function, "__qualname__", type(function).__name__)
                trouble = f"{name}{signature} does not accept it ({error})"
        if trouble:
            kind, name = type(spec).__name__, getattr(spec, "name", "")
            raise PluginError(
                f"{where}: {kind} {name!r} must accept the call {called}, but {trouble}"
            )


def _parameters(annotation: Any) -> list[str] | None:
    import ast

    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Callable":
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else None
            return [ast.unparse(one) for one in first.elts] if isinstance(first, ast.List) else None
    return None


def _looks_like_spec(value: object) -> bool:
    return type(value).__name__.endswith("Spec") and isinstance(getattr(value, "name", None), str)


@dataclass(frozen=True, slots=True)
class _Part(Generic[S]):
    origin: Origin
    get: Callable[[], S]


def _constant(spec: S) -> Callable[[], S]:
    return lambda: spec


class Door(Generic[S]):
    """Registry of named objects, from plug-in files and entry points of ``group``. Messages call one a ``noun``."""

    def __init__(self, group: str, spec: type[S], noun: str) -> None:
        self.group, self.spec, self.noun = group, spec, noun
        self._generation: object = None
        self._parts: dict[str, _Part[S]] = {}

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted. Raises PluginError."""
        return tuple(sorted(self._load_parts()))

    def get(self, name: str) -> S:
        """Return the object ``name``. Raises UnknownNameError, PluginError."""
        return self._part(name).get()

    def all(self) -> tuple[S, ...]:
        """Return every object, sorted by name. Raises PluginError."""
        return tuple(self._load_parts()[name].get() for name in self.names())

    def origin(self, name: str) -> Origin:
        """Return where the object ``name`` comes from. Raises UnknownNameError, PluginError."""
        return self._part(name).origin

    def records(self, names: Iterable[str]) -> list[dict[str, str]]:
        """Return :meth:`Origin.record` of each third-party object among ``names``, sorted by name."""
        origins = [(name, self.origin(name)) for name in sorted(set(names))]
        return [o.record(self.group, name) for name, o in origins if not o.is_ours]

    def _part(self, name: str) -> _Part[S]:
        parts = self._load_parts()
        if name not in parts:
            raise UnknownNameError(
                unknown_name(self.noun, name, {n: p.origin for n, p in parts.items()})
            )
        return parts[name]

    def _load_parts(self) -> dict[str, _Part[S]]:
        if _LOADED.inherited and self._generation == _LOADED.generation:
            return self._parts  # called for every response of a pool: no lock if nothing is new
        files = plugin_files()
        with _LOADED.lock:
            if self._generation is not _LOADED.generation:
                self._parts = {}
                for point in _entry_points(self.group):
                    self._add_entry_point(point)
                for file in files:
                    for value in vars(file.module).values():
                        if isinstance(value, self.spec):
                            self._add(value.name, _Part(file.origin, _constant(value)))
                self._generation = _LOADED.generation
        return self._parts

    def _add_entry_point(self, point: EntryPoint) -> None:
        origin = _origin_of(point)
        if origin.is_ours:  # it is named after its one spec, so listing names loads nothing
            kind, _, name = point.name.rpartition(".")
            if kind in ("", self.noun.replace(" ", "-")):
                once = functools.cache(lambda: self._specs(point, origin)[0])
                self._add(name, _Part(origin, once))
            return
        for spec in self._specs(point, origin):
            self._add(spec.name, _Part(origin, _constant(spec)))

    def _specs(self, point: EntryPoint, origin: Origin) -> list[S]:
        return [s for s in specs_of(point, origin) if isinstance(s, self.spec)]

    def _add(self, name: str, part: _Part[S]) -> None:
        if name in self._parts:
            if self._parts[name].get() is part.get():  # a plug-in file may import an existing spec
                return
            raise PluginError(
                f"{self.noun} {name!r} is defined twice, by {self._parts[name].origin} and by "
                f"{part.origin}: rename one of them"
            )
        self._parts[name] = part


def _origin_of(point: EntryPoint) -> Origin:
    if point.dist is None:
        raise PluginError(
            f"the entry point {point.group}:{point.name} does not belong to an installed distribution"
        )
    return Origin(point.dist.name, point.dist.version)


def specs_of(point: EntryPoint, origin: Origin) -> list[Named]:
    """Return the objects that an entry point provides. Raises PluginError for a faulty plug-in."""
    try:
        value = point.load()
        if not isinstance(value, Sequence) and not hasattr(value, "name"):
            value = value()
    except Exception as error:
        if origin.is_ours:
            raise
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise PluginError(
            f"the plug-in {origin} ({point.group}: {point.name}) cannot be loaded: {text}; "
            f"fix it, or run pip uninstall {origin.source}"
        ) from error
    specs = list(value) if isinstance(value, Sequence) else [value]
    for spec in specs:
        if not _looks_like_spec(spec):
            raise PluginError(
                f"the plug-in {origin} ({point.group}: {point.name}) provides {type(spec).__name__}, "
                "not a spec, a list of specs or a function that returns them"
            )
        if not origin.is_ours:
            check_signatures(spec, str(origin))
    return specs


def unknown_name(noun: str, name: str, origins: dict[str, Origin]) -> str:
    """Return the error message for an unknown name, with the nearest names and where all known names come from."""
    hits = difflib.get_close_matches(name, list(origins), n=3, cutoff=0.5)
    likeness = {hit: difflib.SequenceMatcher(None, hit, name).ratio() for hit in hits}
    hits = [hit for hit in hits if likeness[hit] > likeness[hits[0]] - 0.15]
    near = f" (did you mean {' or '.join(repr(hit) for hit in hits)}?)" if hits else ""
    by_source: dict[str, list[str]] = {}
    for one in sorted(origins):
        by_source.setdefault(origins[one].source, []).append(one)
    available = "; ".join(
        f"{', '.join(names)} (of {source})" for source, names in by_source.items()
    )
    return f"unknown {noun} {name!r}{near}: " + (
        f"there are {available}" if available else "there are none"
    )


class FolderDoor:
    """Registry of YAML files, such as recipes, in the packages named by the entry points of ``group``.

    A name that ends in .yaml or .yml, or contains a slash, is the path of a file.
    """

    def __init__(self, group: str, noun: str) -> None:
        self.group, self.noun = group, noun

    def names(self) -> tuple[str, ...]:
        """Return the sorted names of all files, without suffixes."""
        return tuple(sorted(self._load_parts()))

    def find(self, name: str) -> tuple[Traversable, Origin]:
        """Return the file with this name or path, and its origin. Raises UnknownNameError."""
        if name.endswith((".yaml", ".yml")) or "/" in name:
            path = Path(name)
            if not path.is_file():
                raise UnknownNameError(f"{self.noun} {name}: no such file")
            return path, Origin(
                path.name, f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
            )
        files = self._load_parts()
        if name not in files:
            origins = {one: origin for one, (_, origin) in files.items()}
            raise UnknownNameError(
                f"{unknown_name(self.noun, name, origins)}; or give the path of a file"
            )
        return files[name]

    def _load_parts(self) -> dict[str, tuple[Traversable, Origin]]:
        parts: dict[str, tuple[Traversable, Origin]] = {}
        for point in _entry_points(self.group):
            origin = _origin_of(point)
            try:
                files = [f for f in _files(point.value) if f.is_file()]
            except (ImportError, OSError, TypeError) as error:
                raise PluginError(
                    f"the plug-in {origin} ({self.group}: {point.name}) does not name a "
                    f"package folder: {error}"
                ) from error
            for file in files:
                stem, dot, suffix = file.name.rpartition(".")
                if not dot or suffix not in ("yaml", "yml"):
                    continue
                if stem in parts:
                    raise PluginError(
                        f"{self.noun} {stem!r} is defined twice, by {parts[stem][1]} and by {origin}: rename one of them"
                    )
                parts[stem] = (file, origin)
        return parts


@dataclass(frozen=True, slots=True)
class Installed:
    """What a third-party package registers in an entry-point group, or in ``trouble`` why it cannot be loaded."""

    group: str
    origin: Origin
    names: tuple[str, ...]
    trouble: str = ""


def installed_plugins() -> list[Installed]:
    """Load all installed third-party plug-ins; return what they register, by package and entry-point group."""
    parts: dict[tuple[Origin, str], Installed] = {}
    from importlib.metadata import entry_points

    groups = [g for g in entry_points().groups if g.startswith(f"{OURS}.")]
    points = chain.from_iterable(_entry_points(g) for g in groups)
    for point in points:
        if point.dist is None:
            continue
        origin, trouble = Origin(point.dist.name, point.dist.version), ""
        if origin.is_ours:
            continue
        names: list[str] = []
        try:
            if ":" in point.value:
                names = [spec.name for spec in specs_of(point, origin)]
            else:
                files = [Path(file.name) for file in _files(point.value)]
                names = [file.stem for file in files if file.suffix in (".yaml", ".yml")]
        except (PluginError, ImportError, OSError, TypeError) as error:
            trouble = str(error)
        before = parts.get((origin, point.group), Installed(point.group, origin, ()))
        parts[origin, point.group] = Installed(
            point.group,
            origin,
            tuple(sorted({*before.names, *names})),
            "; ".join(filter(None, (before.trouble, trouble))),
        )
    return [parts[key] for key in sorted(parts, key=lambda k: (k[0].source, k[1]))]
