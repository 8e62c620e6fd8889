"""Defines VerifierSpec, and finds the verifiers of prorl and of plug-ins."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from prorl_common import Door, Origin, PluginError
from prorl_verifiers.audit_shape import AuditShape
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.types import Reference, Score, TaskPart, Turn, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

Result: TypeAlias = float | bool | Score | Verdict | Turn
"""The return value of a verifier: a reward in [0, 1] (True is 1), a Score with details, or an environment's Turn."""
Purpose = Literal["file", "evaluation", "faithful"]
"""Situations in which a verifier may use a mode other than its default: ``prorl verify file``, evaluations, and
training with ``reward.faithful``.
"""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Canary:
    """A question with a known verdict: ``response`` must get ``reward``."""

    reference: Reference
    response: str
    reward: float


@dataclass(frozen=True, slots=True)
class Needs:
    """What a task needs besides its verifier: records of plug-ins (``parts``), and an ``environment`` for programs."""

    parts: Sequence[Mapping[str, str]] = ()
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Composition:
    """How a verifier combines the verdicts of others. Both functions run in prorl's own process and must be quick::

        def parts(reference):
            return [
                TaskPart("value", Task("math", {"answer": reference["answer"]})),
                TaskPart("words", Task("few-words", {"most": 50})),
            ]

        def combine(reference, verdicts):
            return verdicts["value"].reward * verdicts["words"].reward

        SPEC = VerifierSpec(name="terse", compose=Composition(parts, combine))

    ``parts`` raises TaskError for a reference without parts. ``combine`` gets a verdict per part name, each with a
    reward. It is not called if a part is ``infra_error``, because the task is then ``infra_error`` too.
    """

    parts: Callable[[Reference], Sequence[TaskPart]]
    combine: Callable[[Reference, Mapping[str, Verdict]], Result]


def accept(reference: Reference) -> None: ...


def no_canaries(draw: random.Random) -> Sequence[Canary]:
    return ()


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    """A verifier. It has exactly one of ``score``, ``score_in_sandbox`` and ``compose``. Raises PluginError."""

    is_environment: ClassVar[bool] = False
    """Whether a response may be answered, as an ``EnvironmentSpec`` does."""
    name: str
    """The name used in tasks: lower-case letters, digits, ``-`` and ``_``."""
    score: Callable[[str, Reference], Result] | None = None
    """Takes (response, reference) and returns a reward in [0, 1] or a Score.

    It runs in a confined worker process that is killed at its time limit: no network, no writing except to a scratch
    folder, no new processes or threads. After an exception, the canaries and the gold are scored: if one fails too,
    the item is ``infra_error``, else the answer gets 0. Use ``load_library`` for heavy libraries and ``note`` to
    explain a reward.
    """
    score_in_sandbox: Callable[[str, Reference, Sandbox], Result] | None = None
    """Like ``score``, with an open sandbox, for verifiers that run the response as a program. The run time of its
    programs does not count against its limit, up to ten minutes per item. It has no canaries.
    """
    compose: Composition | None = None
    """For verifiers that combine the verdicts of others. prorl reserves the key ``modes`` of their references, which
    maps verifiers to modes for parts that set none.
    """
    strip_thinking: bool = True
    """Score only the text after ``</think>``; a response whose thinking never ends is then ``unparsable``."""
    check_reference: Callable[[Reference], None] = accept
    """Raises TaskError or ValueError for a reference that cannot be scored against."""
    modes: tuple[str, ...] = ()
    """Values of ``reference["mode"]``, the default first; empty if the verifier has no modes."""
    mode_for: Mapping[Purpose, str] = field(default_factory=dict)
    """Modes by purpose, for tasks that set none."""

    libraries: tuple[str, ...] = ()
    """Modules imported before workers are forked, so that no answer waits for them; missing ones are skipped."""
    quick_canaries: Callable[[random.Random], Sequence[Canary]] = no_canaries
    """Randomly drawn questions with right and wrong answers, asked after every batch before its verdicts are trusted. A
    verifier without canaries must instead give one item the same verdict twice.
    """
    deep_canaries: Callable[[], Sequence[Canary]] = tuple
    """Fixed questions that need the libraries; asked when workers warm up and when they retire."""
    needs: Callable[[Reference], Needs] | None = None
    """Returns what a task needs besides this verifier, if that differs between tasks."""

    data: DataShape = field(default_factory=DataShape)
    """Prompt, columns and gold answers: for building datasets, sampling and evaluating."""
    audit: AuditShape = field(default_factory=AuditShape)
    """Tasks, probes and mutations for ``prorl verify audit``."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(
                f"verifier {self.name!r}: a name consists of lower-case letters, digits, - and _"
            )
        functions = [f for f in (self.score, self.score_in_sandbox) if f is not None]
        ways = [*map(callable, functions)]
        ways += [] if self.compose is None else [isinstance(self.compose, Composition)]
        if ways != [True]:
            raise PluginError(
                f"verifier {self.name!r} needs score=FUNCTION (or score_in_sandbox or compose=Composition(...); "
                "just one of them)"
            )
        for purpose, mode in self.mode_for.items():
            if mode not in self.modes:
                raise PluginError(
                    f"verifier {self.name!r} has no mode {mode!r} (mode_for {purpose})"
                )
        if not isinstance(self.data, DataShape) or not isinstance(self.audit, AuditShape):
            raise PluginError(
                f"verifier {self.name!r}: data must be a DataShape(...), and audit an "
                "AuditShape(...)"
            )

    @property
    def calls_service(self) -> bool:
        """Whether it runs in prorl's own process, as only an ``EnvironmentSpec`` may."""
        return False

    def needs_of(self, reference: Reference) -> Needs:
        return Needs() if self.needs is None else self.needs(reference)

    @property
    def may_run_programs(self) -> bool:
        """Whether this verifier may run responses as programs. For one task, ask ``runs_programs``."""
        return self.score_in_sandbox is not None or self.compose is not None


VERIFIERS = Door("prorl.verifiers", VerifierSpec, "verifier")


def runs_in_worker(spec: VerifierSpec) -> bool:
    """Return whether the pool's workers call this verifier.

    They do not call composed verifiers, verifiers that call a service, or prorl's own verifiers that run programs
    and are not environments.
    """
    if spec.calls_service or spec.score is not None or spec.score_in_sandbox is None:
        return spec.score is not None and not spec.calls_service
    return spec.is_environment or not VERIFIERS.origin(spec.name).is_ours


def modes_for(purpose: Purpose) -> dict[str, str]:
    """Return the mode of each verifier that has one for ``purpose``."""
    return {s.name: s.mode_for[purpose] for s in VERIFIERS.all() if purpose in s.mode_for}


def plugin_label(origin: Origin) -> str | None:
    """Return a plug-in's hash or its "name version", or None for prorl's own verifiers."""
    if origin.is_ours:
        return None
    is_file = origin.version.startswith("sha256:")
    return origin.version if is_file else f"{origin.source} {origin.version}"
