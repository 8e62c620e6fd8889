"""What a verifier is, and the door through which verifiers are found: prorl's own and those of others.

The least is a name and a function::

    from prorl_verifiers import VerifierSpec

    SPEC = VerifierSpec(name="exact", score=lambda response, reference: response == reference["answer"])

A verifier that is registered (entry-point group ``prorl.verifiers``) or given with ``--plugin FILE.py`` is scored,
checked, audited, replayed and served like prorl's own, whose specs are ``<name>/spec.py``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from prorl_common import Door, Origin, PluginError
from prorl_verifiers.audit_shape import AuditShape
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.types import Reference, Score, TaskPart, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

Result: TypeAlias = float | bool | Score | Verdict
"""What a verifier returns: a reward in [0, 1] (True is 1), or a Score that says more."""
Purpose = Literal["file", "evaluation", "faithful"]
"""Where a verifier may work in another mode than its first: ``prorl verify file``, evaluations, and
training with ``reward.faithful``."""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Canary:
    """A question whose verdict is known: ``response`` to ``reference`` must score ``reward``."""

    reference: Reference
    response: str
    reward: float


@dataclass(frozen=True, slots=True)
class Needs:
    """What scoring a task needs beside the verifier.

    ``parts``: records (``Door.records``) of other people's parts, such as a language. ``environment``: the one that
    programs of the task run in (``prorl sandbox build-env``); it must exist before anything is scored.
    """

    parts: Sequence[Mapping[str, str]] = ()
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Composition:
    """How a verifier makes one verdict of those of others. Both functions run in prorl's own process: they must be quick.

    Example, a reward for a right number in few words (``few-words`` is another plug-in's verifier)::

        def parts(reference):
            return [
                TaskPart("value", Task("math", {"answer": reference["answer"]})),
                TaskPart("words", Task("few-words", {"most": 50})),
            ]

        def combine(reference, verdicts):
            return verdicts["value"].reward * verdicts["words"].reward

        SPEC = VerifierSpec(name="terse", compose=Composition(parts, combine))

    ``parts`` raises TaskError for a reference that has none. ``combine`` gets a verdict with a reward for each part, by
    name; if a part has no reward (``infra_error``), neither has the whole, and ``combine`` is not called. Its result
    is checked like a scorer's.
    """

    parts: Callable[[Reference], Sequence[TaskPart]]
    combine: Callable[[Reference, Mapping[str, Verdict]], Result]


def accept(reference: Reference) -> None:
    """Accept every JSON object."""


def no_canaries(draw: random.Random) -> Sequence[Canary]:
    """Return no canaries."""
    return ()


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    """One verifier. Exactly one of ``score``, ``score_in_sandbox`` and ``compose`` is given.

    Raises PluginError for fields that make no sense.
    """

    name: str
    """How tasks ask for it: small letters, digits, ``-`` and ``_``."""
    score: Callable[[str, Reference], Result] | None = None
    """(response, reference) -> reward in [0, 1] or Score. Runs in a confined worker process that is killed when its
    time is up: no network, no files to write but a scratch folder, no further processes or threads. An exception is
    ``infra_error``, never a reward. Heavy libraries: see ``load_library``; why a response has its reward: ``note``."""
    score_in_sandbox: Callable[[str, Reference, Sandbox], Result] | None = None
    """The same with an open sandbox, for verifiers that run the response as a program there. The time of its programs
    does not count as its own, up to ten minutes an item; it has no canaries."""
    compose: Composition | None = None
    """For a verifier that puts together the verdicts of others. prorl keeps the key ``modes`` of its references for
    itself: a mode for each verifier among the parts that name none."""
    strip_thinking: bool = True
    """Score only what stands after ``</think>``; a response whose thinking never ends is then ``unparsable``."""
    check_reference: Callable[[Reference], None] = accept
    """Raises TaskError (or ValueError) for a reference that cannot be scored against."""
    modes: tuple[str, ...] = ()
    """Values of ``reference["mode"]``, the default first; empty: it has no modes."""
    mode_for: Mapping[Purpose, str] = field(default_factory=dict)
    """Purpose -> the mode used there for tasks that name none."""

    libraries: tuple[str, ...] = ()
    """Modules imported before workers are forked, so that no answer waits for them; a missing one is left out."""
    quick_canaries: Callable[[random.Random], Sequence[Canary]] = no_canaries
    """Newly drawn questions, right and wrong, asked after every batch before its verdicts are believed. Without
    canaries of either kind an item is scored twice instead and must get the same verdict."""
    deep_canaries: Callable[[], Sequence[Canary]] = tuple
    """Fixed questions that need the libraries: asked when workers warm up and when they retire."""
    needs: Callable[[Reference], Needs] | None = None
    """What a task needs beside this verifier, if tasks differ in that."""

    data: DataShape = field(default_factory=DataShape)
    """Prompt, columns and right answers: for building datasets, sampling and evaluating."""
    audit: AuditShape = field(default_factory=AuditShape)
    """Tasks, probes and mutations for ``prorl verify audit``."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(f"verifier {self.name!r}: a name is small letters, digits, - and _")
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
                raise PluginError(f"verifier {self.name!r}: mode_for {purpose}: no mode {mode!r}")
        if not isinstance(self.data, DataShape) or not isinstance(self.audit, AuditShape):
            raise PluginError(
                f"verifier {self.name!r}: data is a DataShape(...), audit an AuditShape(...)"
            )

    def needs_of(self, reference: Reference) -> Needs:
        """Return what a task needs beside this verifier."""
        return Needs() if self.needs is None else self.needs(reference)

    @property
    def may_run_programs(self) -> bool:
        """Whether some of its tasks may run the response as a program; for one task see ``runs_programs``."""
        return self.score_in_sandbox is not None or self.compose is not None


VERIFIERS = Door("prorl.verifiers", VerifierSpec, "verifier")


def runs_in_worker(spec: VerifierSpec) -> bool:
    """Return whether the pool's workers call it.

    They do not call prorl's own verifiers that run programs (the sandbox confines those), nor composed ones.
    """
    in_sandbox = spec.score_in_sandbox is not None and not VERIFIERS.origin(spec.name).is_ours
    return spec.score is not None or in_sandbox


def modes_for(purpose: Purpose) -> dict[str, str]:
    """Return verifier -> its mode for a purpose, of the verifiers that have one."""
    return {s.name: s.mode_for[purpose] for s in VERIFIERS.all() if purpose in s.mode_for}


def plugin_label(origin: Origin) -> str | None:
    """Return a plug-in's label in verdicts: its hash, or "name version"; None for prorl's own."""
    if origin.is_ours:
        return None
    is_file = origin.version.startswith("sha256:")
    return origin.version if is_file else f"{origin.source} {origin.version}"
