"""Which files of this machine a box's root holds copies of: as few as will do.

For Python and for what compilers make: the standard library, at one place on every machine, and the
shared libraries that the interpreter and its modules need. For compilers and interpreters of other
languages their packages as well. No home, no working folder, no /tmp, no /proc, no /etc, no
site-packages, which may hold data sets and graders. Computed on the host; reads, never executes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import marshal
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from prorl_sandbox.box import wire
from prorl_sandbox.environments.store import interpreter
from prorl_sandbox.local import needs
from prorl_sandbox.spec import Command

PREFIX = "/usr"
"""Where the interpreter and its library are inside, wherever they are outside."""
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
EXECUTABLE = f"{PREFIX}/bin/{VERSION}"
"""What the interpreter is told of where it is; there is none in a box."""
PACKAGES = f"{PREFIX}/lib/{VERSION}/site-packages"
"""Where the packages of an environment are inside."""
_LIBRARY_LINKS = ("/lib", "/lib64", "/lib32")
_PROGRAM_LINKS = ("/bin", "/sbin")
_TOOL_PLACES = ("/usr/bin", "/usr/local/bin", "/bin")
_SYSTEM_PREFIXES = ("/", "/usr", "/usr/local")
_TOOL_FOLDERS = ("/usr/bin", "/usr/lib", "/usr/libexec", "/usr/include", "/usr/share/nodejs")
"""What any tool may need where no package database says what it does need."""
_TIME_ZONES = "/usr/share/zoneinfo"
_COPIES_OF_TIME_ZONES = ("posix", "right")
_LEFT_OUT = (
    "config-*", "dist-packages", "ensurepip", "idlelib", "site-packages", "test", "tests",
    "tkinter", "turtle.py", "turtledemo", "_test*.so", "_tkinter*.so", "xx*.so", "*.opt-[12].pyc",
    "*.pyc.*",
)  # fmt: skip
"""Of the standard library: tests, installers, what needs a screen, what is just being written."""
_OF_COMPILERS = (
    "libatomic.so.1", "libdl.so.2", "libgcc_s.so.1", "libgomp.so.1", "libm.so.6",
    "libpthread.so.0", "libquadmath.so.0", "librt.so.1", "libstdc++.so.6", "libutil.so.1",
)  # fmt: skip
"""Libraries that what a compiler makes may need."""


@dataclass(frozen=True, slots=True)
class View:
    """Copies of files (origin, target) and symbolic links (path, target), by absolute paths."""

    files: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    """Paths of this machine that are not to be read in the copies of what is below them, and as many
    characters in place of each."""

    def listing(self) -> Listing:
        """Return it as the template takes it."""
        facts = {"files": self.files, "links": self.links, "hidden": self.hidden}
        return Listing(marshal.dumps(facts, 2))

    def hiding(self, path: str, shown: str) -> View:
        """Return this view without ``path``: ``shown`` takes its place, padded with slashes. A path
        that is the shorter one stays."""
        if len(path) < len(shown):
            return self
        return replace(self, hidden=(*self.hidden, (path, shown.rjust(len(path), "/"))))

    def with_folder(self, origin: str, target: str, left_out: tuple[str, ...] = ()) -> View:
        """Return this view and all that is below a folder, but for names like ``left_out``.

        Links are copied as links. A folder that is absent, and a file that this user may not read,
        add nothing.
        """
        files, links = list(self.files), list(self.links)
        for folder, names, others in os.walk(origin):
            here = Path(folder)
            kept = [n for n in names if not any(Path(n).match(one) for one in left_out)]
            names[:] = [name for name in kept if not (here / name).is_symlink()]
            there = target + folder.removeprefix(origin)
            for name in (*others, *(set(kept) - set(names))):
                path = here / name
                if path.is_symlink():
                    links.append((f"{there}/{name}", os.readlink(path)))
                elif any(path.match(one) for one in left_out):
                    continue
                elif path.is_file() and os.access(path, os.R_OK):
                    files.append((str(path), f"{there}/{name}"))
        return replace(self, files=tuple(files), links=tuple(links))

    def with_files(self, *paths: str) -> View:
        """Return this view and these files under their own names, links followed."""
        found = [(os.path.realpath(path), _inside(path)) for path in paths]
        return replace(self, files=(*self.files, *found))

    def with_links(self, *paths: str) -> View:
        """Return this view and those of these paths that are links, as they are."""
        found = [(path, os.readlink(path)) for path in paths if os.path.islink(path)]
        return replace(self, links=(*self.links, *found))

    def with_libraries(self, *others: str) -> View:
        """Return this view and the shared libraries that its files and ``others`` need, all in one
        folder where the loader looks by itself."""
        base = needs.find_library("libc.so.6")
        programs = [one for one, to in self.files if os.access(one, os.X_OK) or ".so" in to]
        needed = needs.needed_by([*programs, *others])
        folder = os.path.dirname(os.path.realpath(base)) if base is not None else f"{PREFIX}/lib"
        known = {target for _, target in self.files}
        found = []
        for name, path in needed.items():
            target = _inside(name) if name.startswith("/") else f"{folder}/{name}"
            if target not in known:
                found.append((os.path.realpath(path), target))
        return replace(self, files=(*self.files, *found))


@dataclass(frozen=True, slots=True)
class Listing:
    """A view in transit."""

    data: bytes

    @property
    def name(self) -> str:
        """A name that no other listing has."""
        return hashlib.blake2b(self.data, digest_size=16).hexdigest()

    @contextlib.contextmanager
    def note(self) -> Iterator[int]:
        """Yield a descriptor of a file without a name that holds it."""
        fd = os.memfd_create("listing")
        try:
            wire.write_all(fd, self.data)
            yield fd
        finally:
            os.close(fd)


@functools.cache
def system_view(folder: str = "") -> View:
    """Return what Python programs and compiled ones need, and nothing more but the packages of an
    environment, which lie in ``folder``."""
    if folder:
        view = system_view().hiding(folder, PACKAGES)
        return view.with_folder(folder, PACKAGES).with_libraries()
    library = os.path.dirname(os.path.realpath(os.__file__))
    found = [path for name in _OF_COMPILERS if (path := needs.find_library(name)) is not None]
    view = View().hiding(sys.base_prefix, PREFIX).with_links(*_LIBRARY_LINKS)
    view = view.with_folder(library, f"{PREFIX}/lib/{VERSION}", _LEFT_OUT)
    modules = os.path.join(sys.base_exec_prefix, sys.platlibdir, VERSION, "lib-dynload")
    if not Path(modules).is_relative_to(library):
        target = f"{PREFIX}/{sys.platlibdir}/{VERSION}/lib-dynload"
        view = view.with_folder(modules, target, _LEFT_OUT)
    view = view.with_files(*found).with_libraries(interpreter())
    return view.with_folder(_TIME_ZONES, _TIME_ZONES, _COPIES_OF_TIME_ZONES)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a compiler or an interpreter is made of: names of programs, each with its alternatives;
    Debian packages; folders."""

    names: tuple[tuple[str, ...], ...]
    packages: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, command: Command) -> Tools:
        """Return what a command may need."""
        return cls((command.tools, *command.needed), command.packages, command.folders)


@functools.cache
def tools_view(tools: Tools) -> View:
    """Return what these tools need, of each the first name that is installed. What is absent adds
    nothing: the box says so."""
    view = system_view().with_links(*_PROGRAM_LINKS)
    places = [
        [f"{place}/{name}" for name in names for place in _TOOL_PLACES] for names in tools.names
    ]
    found = [path for paths in places if (path := next(filter(os.path.exists, paths), None))]
    programs = [os.path.realpath(path) for path in found]
    apart = [program for program in programs if needs.package_of(program) is None]
    owners = [name for program in programs if (name := needs.package_of(program)) is not None]
    paths = {_inside(path) for path in needs.files_of((*owners, *tools.packages))}
    paths.update(step for path in found for step in _steps(path))
    for program in apart:
        home = os.path.dirname(os.path.dirname(program))
        if home not in _SYSTEM_PREFIXES:
            view = view.with_folder(home, home)
        elif not needs.has_package_database():
            for folder in _TOOL_FOLDERS:
                view = view.with_folder(folder, folder, _LEFT_OUT)
    for place in _TOOL_PLACES:  # one tool may call another by a second name, like cc
        with os.scandir(place) as entries:
            links = [entry.path for entry in entries if entry.is_symlink()]
        named = [link for link in links if _inside(os.path.realpath(link)) in paths]
        paths.update(step for link in named for step in _steps(link))
    links = [path for path in sorted(paths) if os.path.islink(path)]
    files = [(path, path) for path in sorted(paths - set(links)) if _is_for_everyone(path)]
    view = replace(view.with_links(*links), files=(*view.files, *files))
    for folder in tools.folders:
        view = view.with_folder(os.path.realpath(folder), _inside(folder))
    return view.with_libraries()


def _is_for_everyone(path: str) -> bool:
    """Tell whether a path is a file that every user of this machine may read."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & stat.S_IROTH)


def _steps(path: str) -> Iterator[str]:
    """Yield a path and where its links lead, one after another."""
    path = _inside(path)
    yield path
    while os.path.islink(path):
        path = _inside(os.path.join(os.path.dirname(path), os.readlink(path)))
        yield path


def _inside(path: str) -> str:
    """Return where a path of this machine is in a box: itself, but no folder of it is a link."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
