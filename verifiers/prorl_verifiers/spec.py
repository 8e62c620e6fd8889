"""Defines VerifierSpec, and registers the verifiers of prorl and of plug-ins."""

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
"""What a verifier returns: a reward in [0, 1] (True is 1), a Score, or an environment's Turn."""
Purpose = Literal["file", "evaluation", "faithful"]
"""Situations with their own default mode: ``prorl verify file``, evaluations, training with ``reward.faithful``."""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Canary:
    """A test question: ``response`` must get ``reward``."""

    reference: Reference
    response: str
    reward: float


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of a task, besides its verifier.

    ``parts``: source and version of each plug-in used.
    ``environment``: the package environment for its programs, or None.
    """

    parts: Sequence[Mapping[str, str]] = ()
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Composition:
    """How a verifier combines the verdicts of others. Both functions run in prorl's own process and must be fast::

        def parts(reference):
            return [
                TaskPart("value", Task("math", {"answer": reference["answer"]})),
                TaskPart("words", Task("few-words", {"most": 50})),
            ]

        def combine(reference, verdicts):
            return verdicts["value"].reward * verdicts["words"].reward

        SPEC = VerifierSpec(name="terse", compose=Composition(parts, combine))

    ``parts`` raises TaskError for an invalid reference. ``combine`` gets {part name: verdict}, and all verdicts have a
    reward. If a part is ``infra_error``, so is the task, and ``combine`` is not called.
    """

    parts: Callable[[Reference], Sequence[TaskPart]]
    combine: Callable[[Reference, Mapping[str, Verdict]], Result]


def accept(reference: Reference) -> None: ...


def no_canaries(draw: random.Random) -> Sequence[Canary]:
    return ()


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    """A verifier. Raises PluginError unless exactly one of ``score``, ``score_in_sandbox`` and ``compose`` is given."""

    is_environment: ClassVar[bool] = False
    """Whether this is an ``EnvironmentSpec``, which may reply to a response."""
    name: str
    """The name in tasks: lower-case letters, digits, ``-`` and ``_``."""
    score: Callable[[str, Reference], Result] | None = None
    """Takes (response, reference) and returns a reward in [0, 1] or a Score.

    It runs in a confined process that is killed at its time limit: no network, no new processes or threads, no writing
    outside a scratch folder. If it raises, the answer gets 0 if the verifier still passes its canaries and scores the
    gold, else ``infra_error``. Use ``load_library`` to import large libraries and ``note`` to explain a reward.
    """
    score_in_sandbox: Callable[[str, Reference, Sandbox], Result] | None = None
    """Like ``score``, with an open sandbox as a third argument. Programs in it may run for ten minutes per item and do
    not use up the time limit. There are no canaries.
    """
    compose: Composition | None = None
    """For verifiers that combine the verdicts of others. The key ``modes`` of the reference is reserved for {verifier:
    mode}, which applies to parts without a mode.
    """
    strip_thinking: bool = True
    """Score only the text after ``</think>``. A response whose thinking is not closed is then ``unparsable``."""
    check_reference: Callable[[Reference], None] = accept
    """Raises TaskError or ValueError for an invalid reference."""
    modes: tuple[str, ...] = ()
    """Values of ``reference["mode"]``, the default first. Empty if there are no modes."""
    mode_for: Mapping[Purpose, str] = field(default_factory=dict)
    """{purpose: mode}, used for tasks without a mode."""

    libraries: tuple[str, ...] = ()
    """Modules to import before workers are forked. Missing ones are skipped."""
    quick_canaries: Callable[[random.Random], Sequence[Canary]] = no_canaries
    """Returns random test questions with right and wrong answers, which a worker must judge correctly after every
    batch. Without any, it must give one item of the batch the same verdict again.
    """
    deep_canaries: Callable[[], Sequence[Canary]] = tuple
    """Returns fixed test questions that need the libraries. Workers must answer them at their start and end."""
    needs: Callable[[Reference], Needs] | None = None
    """Returns a task's requirements, if they differ between tasks."""

    data: DataShape = field(default_factory=DataShape)
    """Prompt, columns and gold answers, for datasets and evaluations."""
    audit: AuditShape = field(default_factory=AuditShape)
    """How ``prorl verify audit`` tests the verifier."""

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
                f"verifier {self.name!r} needs exactly one of score=FUNCTION, score_in_sandbox=FUNCTION and "
                "compose=Composition(...)"
            )
        for purpose, mode in self.mode_for.items():
            if mode not in self.modes:
                raise PluginError(
                    f"verifier {self.name!r} has no mode {mode!r}, which mode_for sets for {purpose!r}"
                )
        if not isinstance(self.data, DataShape) or not isinstance(self.audit, AuditShape):
            raise PluginError(
                f"verifier {self.name!r}: data must be a DataShape(...), and audit an "
                "AuditShape(...)"
            )

    @property
    def calls_service(self) -> bool:
        """Whether the verifier calls a service and so runs in prorl's own process."""
        return False

    def needs_of(self, reference: Reference) -> Needs:
        return Needs() if self.needs is None else self.needs(reference)

    @property
    def may_run_programs(self) -> bool:
        """Whether the verifier may run responses as programs. For a single task, use ``runs_programs``."""
        return self.score_in_sandbox is not None or self.compose is not None


VERIFIERS = Door("prorl.verifiers", VerifierSpec, "verifier")


def runs_in_worker(spec: VerifierSpec) -> bool:
    """Return whether the pool's workers call this verifier.

    They do not call composed verifiers, verifiers that call a service, or prorl's own verifiers that run programs and
    are not environments.
    """
    if spec.calls_service or spec.score is not None or spec.score_in_sandbox is None:
        return spec.score is not None and not spec.calls_service
    return spec.is_environment or not VERIFIERS.origin(spec.name).is_ours


def modes_for(purpose: Purpose) -> dict[str, str]:
    """Return {verifier: mode} of the verifiers that define a mode for ``purpose``."""
    return {s.name: s.mode_for[purpose] for s in VERIFIERS.all() if purpose in s.mode_for}


def plugin_label(origin: Origin) -> str | None:
    """Return the SHA-256 of a plug-in file, a package's "name version", or None for prorl's own verifiers."""
    if origin.is_ours:
        return None
    is_file = origin.version.startswith("sha256:")
    return origin.version if is_file else f"{origin.source} {origin.version}"
