"""``LanguageSpec`` describes how programs of a language are compiled and run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from prorl_common import Door, UnknownNameError, UserError
from prorl_common.plugins import unknown_name

_CALL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", re.ASCII)
BINARY = "program"
"""File name of a compiler's output."""
Sources = Mapping[str, str]
"""Contents of a compiler's input files, by file name."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that compiles or runs a program inside the sandbox.

    - ``argv``: the arguments. ``{program}`` is replaced by the program's path.
    - ``tools``: names for ``argv[0]``; the first installed one is used. If empty, the program itself is executed.
    - ``needed``: other tools that must be installed, each with its alternative names.
    - ``sources``, ``result``: files in the working folder that a compiler reads, and the file or folder that it writes.
    - ``answers``: whether the program can send messages to the host.
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
    """Test programs of a language: ``source`` prints 42; ``call`` (if any) defines ``add(a, b)`` for integers."""

    source: str
    call: str = ""


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """A language that programs may be written in. Raises UserError for an inconsistent spec.

    ``run`` and ``compile`` are argument lists with the placeholders ``{source}``, ``{binary}`` (the compiler's result)
    and ``{memory_mb}``. If ``run`` contains ``{binary}``, the compiled program is run (a folder as a zip archive).
    Otherwise the source is run, and ``compile`` only checks it. ``run=None`` means Python, the only language that
    supports checks.

    Tools are found in ``/usr/bin``, ``/usr/local/bin`` and ``/bin``, or at an absolute path.
    """

    name: str
    run: tuple[str, ...] | None
    compile: tuple[str, ...] = ()
    source_name: str = ""
    """File name of a source (default: ``program.NAME``)."""
    title: str = ""
    """Display name (default: the name)."""
    fences: tuple[str, ...] = ()
    """Other names of the language that may follow the fence of a Markdown code block, in lower case."""
    aliases: tuple[str, ...] = ()
    """More names that a task may use, in lower case."""
    suffixes: tuple[str, ...] = ()
    """More file suffixes, in addition to that of ``source_name``, such as ``.cxx``."""
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other names of a tool, tried if it is not installed, such as {"node": ("nodejs",)}."""
    needs: tuple[str, ...] = ()
    """Further tools that the compiler or interpreter calls."""
    folders: tuple[str, ...] = ()
    """Further folders that the tools read, such as ``/opt/lab``. Programs can read them too."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for tools and programs, in addition to HOME, TMPDIR, LANG and PATH."""
    compile_seconds: float = 10.0
    """Default CPU time limit in seconds for compiling a source. The wall time limit is twice as long."""
    least_memory_mb: int = 0
    """Memory in MiB that the language needs to start; a lower memory limit is raised to it."""
    packages: tuple[str, ...] = ()
    """Debian packages with the language's tools, for ``prorl sandbox build-image`` and the local sandbox."""
    own_memory_mb: int = 0
    """Memory in MiB that the language's runtime uses; added to the memory limit."""
    own_processes: int = 0
    """Number of threads that the tools and the runtime start; added to the process limit."""
    reserved_mb: int = 0
    """Address space in MiB that the runtime reserves without using it; added to the limit of address space."""
    arrange: Callable[[str], Sources] | None = None
    """Function from a source to the files to compile (default: one file ``source_name``)."""
    answers: bool = False
    """Whether programs may write a frame ``{"k": "raise", "memory": bool}`` to file descriptor 3 when they fail."""
    harness: Callable[[str, str], Sources] | None = None
    """Function from a source and a function name to a program that calls the function once. None: the language supports
    whole programs only.

    The program reads JSON text ``{"n": nonce, "args": [...]}`` from file descriptor 4. NaN and Infinity are allowed,
    and integers may have any number of digits. It writes one frame (see ``box.wire``) to descriptor 3: ``{"k": "value",
    "v": tagged value, "n": nonce}``, ``{"k": "raise", "type": name, "memory": bool}`` or ``{"k": "unserialisable",
    "text": why}``.
    """
    trial: Trial | None = None
    """Test programs for ``prorl sandbox doctor``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name)
        object.__setattr__(self, "source_name", self.source_name or f"program.{self.name}")
        if isinstance(self.run, str) or isinstance(self.compile, str):
            raise UserError(f"language {self.name}: 'run' and 'compile' must be lists of arguments")
        run = " ".join(self.run or ())
        if self.run is not None and not ("{source}" in run) ^ ("{binary}" in run):
            raise UserError(
                f"language {self.name}: 'run' must contain either {{source}} or {{binary}}"
            )
        if "{binary}" in run and "{binary}" not in " ".join(self.compile):
            raise UserError(
                f"language {self.name}: 'compile' must contain {{binary}}, because 'run' does"
            )
        if self.harness is not None and not self.compile:
            raise UserError(f"language {self.name}: 'harness' needs a 'compile' step")
        if "/" in self.source_name or self.source_name == BINARY:
            raise UserError(
                f"language {self.name}: 'source_name' must be a file name, and not {BINARY!r}"
            )

    @property
    def marks(self) -> tuple[str, ...]:
        """Names of the language that may follow the fence of a code block."""
        return (self.name, *self.fences)

    @property
    def endings(self) -> tuple[str, ...]:
        dot = self.source_name.rfind(".")
        return (*([self.source_name[dot:]] if dot > 0 else []), *self.suffixes)

    @property
    def takes_calls(self) -> bool:
        """Whether functions of programs in this language can be called."""
        return self.run is None or self.harness is not None

    @property
    def tools(self) -> tuple[tuple[str, ...], ...]:
        """Required tools, each with its alternative names."""
        commands = (*((name,) for name in self.needs), self.compile, self.run or ())
        return tuple(names for command in commands if (names := self._names_of(command)))

    def compile_command(self, source: str, call: str | None, memory_mb: int) -> Command:
        """Return the command that compiles or checks a source. With ``call``, the result calls that function."""
        sources: Sources = {self.source_name: source}
        if call is not None and self.harness is not None:
            sources = self.harness(source, call)
        elif self.arrange is not None:
            sources = self.arrange(source)
        places = {"{source}": self.source_name, "{binary}": BINARY}
        command = self._command(self.compile, places, memory_mb)
        return replace(command, needed=self.tools, sources=sources)

    def run_command(self, call: str | None, memory_mb: int) -> Command:
        """Return the command that runs the compiled program or the source."""
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
        if not words or words[0] == "{binary}":
            return ()
        return (words[0], *self.alternatives.get(words[0], ()))


LANGUAGES = Door("prorl.languages", LanguageSpec, "language")


def check_call(call: str, spec: LanguageSpec) -> None:
    """Raise UserError if functions of this language cannot be called, or ``call`` is not a function's name."""
    if spec.harness is None:
        callable_in = " and ".join(other.title for other in LANGUAGES.all() if other.takes_calls)
        raise UserError(
            f"functions can be called in {callable_in}, not in {spec.title}: write a program that uses"
            " stdin and stdout"
        )
    if not _CALL.fullmatch(call):
        raise UserError(f"call {call!r} is neither the name of a function nor Class.method")


def find_language(name: str) -> LanguageSpec:
    """Return the language with this name, fence name or alias, in any case.

    Raises UnknownNameError with the nearest names, UserError for an ambiguous alias.
    """
    word = name.strip().lower()
    languages: dict[str, list[LanguageSpec]] = {}
    for spec in LANGUAGES.all():
        if spec.name.lower() == word:
            return spec
        for alias in {alias.lower() for alias in (*spec.marks, *spec.aliases)}:
            languages.setdefault(alias, []).append(spec)
    if word not in languages:
        origins = {alias: LANGUAGES.origin(specs[0].name) for alias, specs in languages.items()}
        raise UnknownNameError(unknown_name("language", name, origins))
    if len(languages[word]) > 1:
        names = " or ".join(spec.name for spec in languages[word])
        raise UserError(f"language {name!r} is ambiguous: use the name {names}")
    return languages[word][0]
