"""Select the files that programs in the local sandbox can read.

Home and working folders, /tmp, /proc, /etc and site-packages are left out, because they may hold data and answers.
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
"""Folder of Python as programs see it."""
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
EXECUTABLE = f"{PREFIX}/bin/{VERSION}"
"""Path of the interpreter as programs see it. No such file exists."""
PACKAGES = f"{PREFIX}/lib/{VERSION}/site-packages"
"""Folder of an environment's packages as programs see it."""
_LIBRARY_LINKS = ("/lib", "/lib64", "/lib32")
_PROGRAM_LINKS = ("/bin", "/sbin")
_TOOL_PLACES = ("/usr/bin", "/usr/local/bin", "/bin")
_SYSTEM_PREFIXES = ("/", "/usr", "/usr/local")
_TOOL_FOLDERS = ("/usr/bin", "/usr/lib", "/usr/libexec", "/usr/include", "/usr/share/nodejs")
"""Folders with the files of any tool, for machines without a package database."""
_TIME_ZONES = "/usr/share/zoneinfo"
_COPIES_OF_TIME_ZONES = ("posix", "right")
_LEFT_OUT = (
    "config-*", "dist-packages", "ensurepip", "idlelib", "site-packages", "test", "tests",
    "tkinter", "turtle.py", "turtledemo", "_test*.so", "_tkinter*.so", "xx*.so", "*.opt-[12].pyc",
    "*.pyc.*",
)  # fmt: skip
"""Patterns of standard library files that are left out, such as tests and graphical modules."""
_OF_COMPILERS = (
    "libatomic.so.1", "libdl.so.2", "libgcc_s.so.1", "libgomp.so.1", "libm.so.6",
    "libpthread.so.0", "libquadmath.so.0", "librt.so.1", "libstdc++.so.6", "libutil.so.1",
)  # fmt: skip
"""Libraries that compiled programs may need."""


@dataclass(frozen=True, slots=True)
class View:
    """Files (source, target) and symbolic links (path, target) that programs can read, as absolute paths."""

    files: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    """Pairs (path, replacement) of equal length. The path is replaced in the text of files below it."""

    def listing(self) -> Listing:
        facts = {"files": self.files, "links": self.links, "hidden": self.hidden}
        return Listing(marshal.dumps(facts, 2))

    def hiding(self, path: str, replacement: str) -> View:
        """Return this view with ``path`` replaced in the text of copied files, unless ``replacement`` is longer."""
        if len(path) < len(replacement):
            return self
        return replace(self, hidden=(*self.hidden, (path, replacement.rjust(len(path), "/"))))

    def with_folder(self, origin: str, target: str, left_out: tuple[str, ...] = ()) -> View:
        """Return this view plus the folder ``origin`` at ``target``, without names that match ``left_out``.

        Symbolic links are kept as links. Unreadable files are skipped.
        """
        files, links = list(self.files), list(self.links)
        for folder, folder_names, file_names in os.walk(origin):
            source = Path(folder)
            selected = [n for n in folder_names if not any(Path(n).match(one) for one in left_out)]
            folder_names[:] = [name for name in selected if not (source / name).is_symlink()]
            destination = target + folder.removeprefix(origin)
            for name in (*file_names, *(set(selected) - set(folder_names))):
                path = source / name
                if path.is_symlink():
                    links.append((f"{destination}/{name}", os.readlink(path)))
                elif any(path.match(one) for one in left_out):
                    continue
                elif path.is_file() and os.access(path, os.R_OK):
                    files.append((str(path), f"{destination}/{name}"))
        return replace(self, files=tuple(files), links=tuple(links))

    def with_files(self, *paths: str) -> View:
        """Return this view plus the files at ``paths``. Symbolic links are followed."""
        files = [(os.path.realpath(path), _inside(path)) for path in paths]
        return replace(self, files=(*self.files, *files))

    def with_links(self, *paths: str) -> View:
        """Return this view plus those of ``paths`` that are symbolic links."""
        links = [(path, os.readlink(path)) for path in paths if os.path.islink(path)]
        return replace(self, links=(*self.links, *links))

    def with_libraries(self, *extra: str) -> View:
        """Return this view plus the libraries that its programs and the files ``extra`` need."""
        base = needs.find_library("libc.so.6")
        programs = [one for one, to in self.files if os.access(one, os.X_OK) or ".so" in to]
        needed = needs.needed_by([*programs, *extra])
        folder = os.path.dirname(os.path.realpath(base)) if base is not None else f"{PREFIX}/lib"
        targets = {target for _, target in self.files}
        libraries = []
        for name, path in needed.items():
            target = _inside(name) if name.startswith("/") else f"{folder}/{name}"
            if target not in targets:
                libraries.append((os.path.realpath(path), target))
        return replace(self, files=(*self.files, *libraries))


@dataclass(frozen=True, slots=True)
class Listing:
    data: bytes

    @property
    def name(self) -> str:
        return hashlib.blake2b(self.data, digest_size=16).hexdigest()

    @contextlib.contextmanager
    def note(self) -> Iterator[int]:
        """Yield the descriptor of an in-memory file that contains the listing."""
        fd = os.memfd_create("listing")
        try:
            wire.write_all(fd, self.data)
            yield fd
        finally:
            os.close(fd)


@functools.cache
def system_view(folder: str = "") -> View:
    """Return the view with Python, common libraries and the packages in ``folder``."""
    if folder:
        view = system_view().hiding(folder, PACKAGES)
        return view.with_folder(folder, PACKAGES).with_libraries()
    library = os.path.dirname(os.path.realpath(os.__file__))
    compiler_libraries = [
        path for name in _OF_COMPILERS if (path := needs.find_library(name)) is not None
    ]
    view = View().hiding(sys.base_prefix, PREFIX).with_links(*_LIBRARY_LINKS)
    view = view.with_folder(library, f"{PREFIX}/lib/{VERSION}", _LEFT_OUT)
    modules = os.path.join(sys.base_exec_prefix, sys.platlibdir, VERSION, "lib-dynload")
    if not Path(modules).is_relative_to(library):
        target = f"{PREFIX}/{sys.platlibdir}/{VERSION}/lib-dynload"
        view = view.with_folder(modules, target, _LEFT_OUT)
    view = view.with_files(*compiler_libraries).with_libraries(interpreter())
    return view.with_folder(_TIME_ZONES, _TIME_ZONES, _COPIES_OF_TIME_ZONES)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a language needs: ``names`` of programs, each with alternatives, and further Debian packages and folders."""

    names: tuple[tuple[str, ...], ...]
    packages: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, command: Command) -> Tools:
        return cls((command.tools, *command.needed), command.packages, command.folders)


@functools.cache
def tools_view(tools: Tools) -> View:
    """Return the view with Python and these tools. Of each tool, the first installed name is used."""
    view = system_view().with_links(*_PROGRAM_LINKS)
    places = [
        [f"{place}/{name}" for name in names for place in _TOOL_PLACES] for names in tools.names
    ]
    tool_paths = [path for paths in places if (path := next(filter(os.path.exists, paths), None))]
    programs = [os.path.realpath(path) for path in tool_paths]
    apart = [program for program in programs if needs.package_of(program) is None]
    owners = [name for program in programs if (name := needs.package_of(program)) is not None]
    paths = {_inside(path) for path in needs.files_of((*owners, *tools.packages))}
    paths.update(step for path in tool_paths for step in _steps(path))
    for program in apart:
        home = os.path.dirname(os.path.dirname(program))
        if home not in _SYSTEM_PREFIXES:
            view = view.with_folder(home, home)
        elif not needs.has_package_database():
            for folder in _TOOL_FOLDERS:
                view = view.with_folder(folder, folder, _LEFT_OUT)
    for place in _TOOL_PLACES:  # a tool may call another by a second name, like cc
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
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & stat.S_IROTH)


def _steps(path: str) -> Iterator[str]:
    path = _inside(path)
    yield path
    while os.path.islink(path):
        path = _inside(os.path.join(os.path.dirname(path), os.readlink(path)))
        yield path


def _inside(path: str) -> str:
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
