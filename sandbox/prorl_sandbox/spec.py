"""How a programming language is compiled and run: one ``LanguageSpec`` a language, found through
``LANGUAGES``.

A spec is read on the host alone. What it says travels into a box as argument lists, so that a box,
on this machine or in a container, needs nothing but the language's own tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from prorl_common import Door, UnknownNameError, UserError
from prorl_common.plugins import unknown_name

_CALL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", re.ASCII)
BINARY = "program"
"""The file name of what a compiler makes."""
Sources = Mapping[str, str]
"""The files that a compiler is given: text by file name."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a box executes to compile a program, or to become one.

    ``argv`` may hold ``{program}``, the path of the program's file in its box. ``tools`` are names
    for ``argv[0]``, of which the first that is installed is taken; none: the program is executed
    itself. ``needed`` are other tools that must be there, each with its alternatives. A compiler finds
    ``sources`` in the working folder and leaves ``result`` there, a file or a folder. ``answers``: the
    program keeps the channel to the host. ``reserved_mb`` and ``packages``: see ``LanguageSpec``.
    """

    argv: tuple[str, ...]
    tools: tuple[str, ...]
    result: str
    environment: Mapping[str, str]
    folders: tuple[str, ...]
    needed: tuple[tuple[str, ...], ...] = ()
    sources: Sources = field(default_factory=dict)
    answers: bool = False
    reserved_mb: int = 0
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """Programs by which one sees whether a language works here: ``source`` prints 42; ``call``
    defines ``add(a, b)`` over integers, empty where the language has no harness."""

    source: str
    call: str = ""


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """A language that programs may be written in.

    ``run`` and ``compile`` are argument lists. Their placeholders: ``{source}``, the program's text
    as a file; ``{binary}``, what the compiler makes of it; ``{memory_mb}``, the memory limit. With
    ``{binary}`` in ``run`` the compiler's result is kept and run (of a folder, a zip archive of
    its files), else the source is run and ``compile``, if there is one, only checks it.
    ``run=None`` is Python, which the box's own harness runs: only such a language takes checks.
    Calls are for it and for languages with a ``harness``, which JavaScript has.

    Tools are looked for in ``/usr/bin``, ``/usr/local/bin`` and ``/bin`` of the machine or the
    image, or where an absolute path says. Raises UserError for a spec that makes no sense.
    """

    name: str
    run: tuple[str, ...] | None
    compile: tuple[str, ...] = ()
    source_name: str = ""
    """The file name of a source; default ``program.NAME``."""
    title: str = ""
    """What people call it; default: the name."""
    fences: tuple[str, ...] = ()
    """What may stand behind a code block's fence beside the name, in lower case."""
    aliases: tuple[str, ...] = ()
    """What a task may call it beside the name and ``fences``, in lower case."""
    suffixes: tuple[str, ...] = ()
    """Endings of its files beside that of ``source_name``, like ``.cxx``."""
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other names of a tool, tried in order where it is not installed: {"node": ("nodejs",)}."""
    needs: tuple[str, ...] = ()
    """Tools that its tools call, beside the first words of ``compile`` and ``run``."""
    folders: tuple[str, ...] = ()
    """Folders that its tools read outside the system's own (``/opt/lab``), shown to them
    read-only."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its tools and programs, beside HOME, TMPDIR, LANG and PATH."""
    compile_seconds: float = 10.0
    """Processor seconds that compiling a source may take where the task does not say; twice as many by
    the clock."""
    least_memory_mb: int = 0
    """What it takes to start at all, in MiB: a lower memory limit is raised to it."""
    packages: tuple[str, ...] = ()
    """Debian packages that ``prorl sandbox build-image`` installs for it. Where they are installed on
    this machine, its local boxes have their files."""
    own_memory_mb: int = 0
    """What its runtime takes beside the program's own memory, in MiB: added to the limit."""
    own_processes: int = 0
    """How many threads its tools and its runtime start by themselves: added to the limit."""
    reserved_mb: int = 0
    """Address space in MiB that its runtime reserves and does not use. Counts only where no control
    group sums up a box's memory, so that address space is limited."""
    arrange: Callable[[str], Sources] | None = None
    """Makes a source into the files that are compiled; default: one file ``source_name``."""
    answers: bool = False
    """Whether whole programs keep the channel to the host, descriptor 3, on which one may write a frame
    ``{"k": "raise", "memory": bool}``: an exception, or a lack of memory, has ended it."""
    harness: Callable[[str, str], Sources] | None = None
    """Makes a source and the name of a function into a program that answers a call of that function;
    None: the language takes whole programs alone. The program reads its question from descriptor 4,
    JSON text ``{"n": nonce, "args": [...]}`` in which NaN, Infinity and -Infinity are numbers and an
    integer has any number of digits. It writes one frame (see ``box.wire``) to descriptor 3:
    ``{"k": "value", "v": a tagged value, "n": nonce}``, ``{"k": "raise", "type": name, "memory": bool}``
    or ``{"k": "unserialisable", "text": why}``."""
    trial: Trial | None = None
    """What ``prorl sandbox doctor`` tries."""

    def __post_init__(self) -> None:
        """Fill in the defaults that depend on the name."""
        object.__setattr__(self, "title", self.title or self.name)
        object.__setattr__(self, "source_name", self.source_name or f"program.{self.name}")
        if isinstance(self.run, str) or isinstance(self.compile, str):
            raise UserError(f"language {self.name}: 'run' and 'compile' are lists of arguments")
        run = " ".join(self.run or ())
        if self.run is not None and not ("{source}" in run) ^ ("{binary}" in run):
            raise UserError(f"language {self.name}: 'run' must name {{source}} or {{binary}}")
        if "{binary}" in run and "{binary}" not in " ".join(self.compile):
            raise UserError(
                f"language {self.name}: 'compile' must make {{binary}}, which 'run' runs"
            )
        if self.harness is not None and not self.compile:
            raise UserError(f"language {self.name}: 'harness' needs a 'compile' step")
        if "/" in self.source_name or self.source_name == BINARY:
            raise UserError(
                f"language {self.name}: 'source_name' must be a file name, and not {BINARY!r}"
            )

    @property
    def marks(self) -> tuple[str, ...]:
        """What may stand behind the fence of its code blocks."""
        return (self.name, *self.fences)

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of its files, with their dots."""
        dot = self.source_name.rfind(".")
        return (*([self.source_name[dot:]] if dot > 0 else []), *self.suffixes)

    @property
    def takes_calls(self) -> bool:
        """Whether functions of its programs can be called."""
        return self.run is None or self.harness is not None

    @property
    def tools(self) -> tuple[tuple[str, ...], ...]:
        """The tools it needs, each with its alternatives."""
        commands = (*((name,) for name in self.needs), self.compile, self.run or ())
        return tuple(names for command in commands if (names := self._names_of(command)))

    def compile_command(self, source: str, call: str | None, memory_mb: int) -> Command:
        """Return what compiles, or checks, a source; with ``call`` a program that answers it."""
        sources: Sources = {self.source_name: source}
        if call is not None and self.harness is not None:
            sources = self.harness(source, call)
        elif self.arrange is not None:
            sources = self.arrange(source)
        places = {"{source}": self.source_name, "{binary}": BINARY}
        command = self._command(self.compile, places, memory_mb)
        return replace(command, needed=self.tools, sources=sources)

    def run_command(self, call: str | None, memory_mb: int) -> Command:
        """Return what runs a program: the compiler's result, or the source."""
        places = {"{source}": "{program}", "{binary}": "{program}"}
        command = self._command(self.run or (), places, memory_mb)
        needed = self.tools if command.tools else ()
        return replace(command, needed=needed, answers=self.answers or call is not None)

    def _command(self, words: tuple[str, ...], places: dict[str, str], memory_mb: int) -> Command:
        argv = list(words)
        for placeholder, value in (places | {"{memory_mb}": str(memory_mb)}).items():
            argv = [word.replace(placeholder, value) for word in argv]
        return Command(
            tuple(argv),
            self._names_of(words),
            BINARY if "{binary}" in " ".join(self.run or ()) else self.source_name,
            dict(self.environment),
            self.folders,
            reserved_mb=self.reserved_mb,
            packages=self.packages,
        )

    def _names_of(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of a command's tool; none for no command and for the binary itself."""
        if not words or words[0] == "{binary}":
            return ()
        return (words[0], *self.alternatives.get(words[0], ()))


LANGUAGES = Door("prorl.languages", LanguageSpec, "language")


def check_call(call: str, spec: LanguageSpec) -> None:
    """Raise UserError for a call that a language other than Python cannot take."""
    if spec.harness is None:
        callable_in = " and ".join(other.title for other in LANGUAGES.all() if other.takes_calls)
        raise UserError(
            f"functions can be called in {callable_in}, not in {spec.title}: give it a whole program"
            " with stdin and stdout"
        )
    if not _CALL.fullmatch(call):
        raise UserError(f"call {call!r} is no name of a function, nor Class.method")


def find_language(name: str) -> LanguageSpec:
    """Return the language of that name, fence name or alias, in any case.

    Raises UnknownNameError with the nearest names, UserError where several are called so.
    """
    wanted = name.strip().lower()
    known: dict[str, list[LanguageSpec]] = {}
    for spec in LANGUAGES.all():
        if spec.name.lower() == wanted:
            return spec
        for word in {word.lower() for word in (*spec.marks, *spec.aliases)}:
            known.setdefault(word, []).append(spec)
    if wanted not in known:
        origins = {word: LANGUAGES.origin(specs[0].name) for word, specs in known.items()}
        raise UnknownNameError(unknown_name("language", name, origins))
    if len(known[wanted]) > 1:
        names = " and ".join(spec.name for spec in known[wanted])
        raise UserError(f"both {names} are called {name!r}: use the language's own name")
    return known[wanted][0]
