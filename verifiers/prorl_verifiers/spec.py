"""What a verifier is, and the door through which verifiers are found: ours and those of others.

The least is a name and a function::

    from prorl_verifiers import VerifierSpec

    SPEC = VerifierSpec(name="exact", score=lambda response, reference: response == reference["answer"])

Everything else has a default. Whatever prorl needs to know of a verifier stands here and nowhere else: a
verifier that is registered (entry-point group ``prorl.verifiers``) or given with ``--plugin FILE.py`` is
scored, checked, audited, replayed and served like our own, whose specs are ``<name>/spec.py``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prorl_common import Door, Origin, PluginError
from prorl_verifiers.audit.items import AuditRequest, Group, Kind, Mutation, Probe
from prorl_verifiers.types import Reference, Score, TaskPart, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

Result: TypeAlias = float | bool | Score | Verdict
"""What a verifier returns: a reward in [0, 1] (True is 1), or a Score that says more."""
Purpose = Literal["file", "evaluation", "faithful"]
"""Where a verifier may work in another mode than its first: ``prorl verify file``, evaluations, and
training with ``reward.faithful``."""
UNTYPED = "untyped"
"""The type of a gold that its verifier cannot read."""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Canary:
    """A question whose verdict is known: ``response`` to ``reference`` must score ``reward``."""

    reference: Reference
    response: str
    reward: float


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

    ``parts`` raises TaskError for a reference that has none. ``combine`` gets a verdict with a reward for each part,
    by name; one part without (``infra_error``) makes the whole ``infra_error`` without asking. Its result is checked
    like a scorer's. Whether the whole is ``unparsable`` or ``timeout``, metrics and seconds are the pool's business
    (``pool.composed``).
    """

    parts: Callable[[Reference], Sequence[TaskPart]]
    combine: Callable[[Reference, Mapping[str, Verdict]], Result]


def no_check(reference: Reference) -> None:
    """Accept every JSON object."""


def no_canaries(draw: random.Random) -> Sequence[Canary]:
    """Know no question whose verdict is known."""
    return ()


def no_parts(reference: Reference) -> Sequence[Mapping[str, str]]:
    """Take nothing of others."""
    return ()


def no_environment(reference: Reference) -> str | None:
    """Need the standard library alone."""
    return None


def none_may_be_right(reference: Reference) -> Collection[Kind]:
    """Say that each mutation makes a right answer wrong."""
    return ()


def plain_answer(reference: Reference) -> str | None:
    """Return ``reference["answer"]`` as text, the parts of a list joined by "; "; None without one."""
    answer = reference.get("answer")
    if answer is None:
        return None
    return "; ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def as_it_is(answer: str, reference: Reference) -> str:
    """Return ``answer``: the response is the answer and nothing else."""
    return answer


def as_in_the_row(reference: dict[str, Any]) -> dict[str, Any]:
    """Return the reference unchanged."""
    return reference


@dataclass(frozen=True, slots=True)
class ByService:
    """How a verifier asks a service, a model above all, for its verdicts.

    Called in threads of the process that scores, with the network and without walls: a response is sent on and read by
    no parser, and of the reply is taken what its one form allows. Its rewards have the status ``judged``.
    """

    score: Callable[[str, Reference], Result]
    """As ``VerifierSpec.score``, from several threads at a time. Tries again by itself; ServiceError, and whatever
    else it raises, is ``infra_error``."""
    prove: Callable[[], None]
    """Has the service judge known answers. Raises UserError where it errs, ServiceError where it does not answer.
    Asked before long work; ``score`` must not score without it."""
    who: Callable[[], Mapping[str, str]]
    """Returns the record (``Door.records``) of who judges, its ``name`` the model's. Raises UserError, with the cure,
    where nobody has turned the verifier on: that is asked before anything is scored."""


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    """One verifier. Exactly one of ``score``, ``score_in_sandbox``, ``score_by_service`` and ``compose`` is given.

    Raises PluginError for fields that make no sense.
    """

    name: str
    """How tasks ask for it: small letters, digits, ``-`` and ``_``."""
    score: Callable[[str, Reference], Result] | None = None
    """(response, reference) -> reward in [0, 1] or Score. Runs in a confined worker process that is killed
    when its time is up: no network, no files to write but a scratch folder, no further processes or threads.
    Whatever it raises is ``infra_error``, never a reward. Heavy libraries: see ``load_library``; why a response has
    its reward: ``note``."""
    score_in_sandbox: Callable[[str, Reference, Sandbox], Result] | None = None
    """The same with an open sandbox, for verifiers that run the response as a program there. What its programs
    take does not count as its own time, up to ten minutes an item; canaries are not asked."""
    score_by_service: ByService | None = None
    """For verifiers whose verdicts a service gives. Off until the environment names it (``ByService.who``)."""
    compose: Composition | None = None
    """For verifiers that score nothing themselves: which other tasks a task consists of, each scored as if it stood
    alone, and what their verdicts come to. Of a composed reference prorl keeps the key ``modes`` for itself: a mode
    for each verifier among the parts that name none."""
    strip_thinking: bool = True
    """Score only what stands after ``</think>``; a response whose thinking never ends is then ``unparsable``."""
    check_reference: Callable[[Reference], None] = no_check
    """Raises TaskError (or ValueError) for a reference that cannot be scored against."""
    modes: tuple[str, ...] = ()
    """Values of ``reference["mode"]``, the default first; none: it has no modes."""
    mode_for: Mapping[Purpose, str] = field(default_factory=dict)
    """Purpose -> the mode used there for tasks that name none."""

    libraries: tuple[str, ...] = ()
    """Modules imported before workers are forked, so that no answer waits for them; what is not installed is
    left out."""
    quick_canaries: Callable[[random.Random], Sequence[Canary]] = no_canaries
    """Newly drawn questions, right and wrong, asked after every batch, before its verdicts are believed. With
    neither kind of canaries an item is asked again instead and must get the same verdict."""
    deep_canaries: Callable[[], Sequence[Canary]] = tuple
    """Fixed questions that need the libraries: for warming up, and asked of workers that retire."""
    parts_for: Callable[[Reference], Sequence[Mapping[str, str]]] = no_parts
    """Records (``Door.records``) of further parts of others that this task takes, such as a language."""
    environment_for: Callable[[Reference], str | None] = no_environment
    """The environment (``prorl sandbox build-env``) that programs of this task need: it is seen to be there
    before anything is scored."""
    example: Reference | None = None
    """A reference that ``check_reference`` accepts; a service checks it once to have loaded what that needs."""

    prompt: str = "{question}"
    """How a question is put to the model where a recipe does not say."""
    columns: tuple[str, ...] = ("answer",)
    """Keys of the reference that a data file must have as columns."""
    optional_columns: tuple[str, ...] = ()
    json_columns: tuple[str, ...] = ()
    """Those of them that are parsed as JSON where the file holds text."""
    tidy: Callable[[dict[str, Any]], dict[str, Any]] = as_in_the_row
    """Makes a reference of a row's columns. Raises TaskError."""
    answer: Callable[[Reference], str | None] = plain_answer
    """The right answer as text, None where there is none: shown, counted, compared with other rows."""
    write: Callable[[str, Reference], str] = as_it_is
    """A response that gives this answer as the verifier wants it written."""
    gold_response: Callable[[Reference], str | None] | None = None
    """A whole right response; by default ``write(answer)``. The gold check of ``prorl data build``, the warm
    start and the audit take it."""
    target_type: Callable[[Reference], str] | None = None
    """What kind of gold a reference holds (``number``, ``interval``, ...), ``UNTYPED`` where answers can only be compared
    as text; ``prorl data build`` counts them and lists the untyped ones."""
    topic: Callable[[Reference], str | None] | None = None
    """What ``prorl data inspect`` counts; by default the answer."""
    vote: Callable[[str], str | None] | None = None
    """Extracted answer -> what is put to the vote for maj@k (None: no vote); without it nothing is."""

    probes: Callable[[], Sequence[Probe]] | None = None
    """Answers that solve nothing, for the audit; by default constants, blanks and echoes."""
    mutations: Callable[[], Sequence[Mutation]] | None = None
    """Ways to make a right answer wrong, for the audit; by default negations, second answers, changed digits, junk."""
    may_be_right: Callable[[Reference], Collection[Kind]] = none_may_be_right
    """Kinds of mutations that may leave the answer to this task right: the audit does not try them."""
    audit_groups: Callable[[AuditRequest], Iterable[Group]] | None = None
    """Tasks of its own to audit; without them ``prorl verify audit --file`` brings some."""
    chance: Callable[[Reference], float] | None = None
    """What the best constant answer earns on one task by its form; by default estimated from the answers."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(f"verifier {self.name!r}: a name is small letters, digits, - and _")
        functions = [f for f in (self.score, self.score_in_sandbox) if f is not None]
        ways = [*map(callable, functions)]
        for way, kind in ((self.score_by_service, ByService), (self.compose, Composition)):
            ways += [] if way is None else [isinstance(way, kind)]
        if ways != [True]:
            raise PluginError(
                f"verifier {self.name!r} needs score=FUNCTION (or score_in_sandbox, score_by_service=ByService(...) or "
                "compose=Composition(...); just one of them)"
            )
        for purpose, mode in self.mode_for.items():
            if mode not in self.modes:
                raise PluginError(f"verifier {self.name!r}: mode_for {purpose}: no mode {mode!r}")

    @property
    def may_run_programs(self) -> bool:
        """Whether some task of it may run the response as a program; of one task see ``runs_programs``."""
        return self.score_in_sandbox is not None or self.compose is not None

    def gold(self, reference: Reference) -> str | None:
        """Return a whole right response, or None when the reference does not tell."""
        if self.gold_response is not None:
            return self.gold_response(reference)
        answer = self.answer(reference)
        return None if answer is None else self.write(answer, reference)

    def shown(self, reference: Reference) -> str | None:
        """Return what ``prorl data inspect`` counts, on one line of at most 60 characters."""
        text = (self.topic or self.answer)(reference)
        return None if text is None else " ".join(text.split())[:60]


VERIFIERS = Door("prorl.verifiers", VerifierSpec, "verifier")


def runs_in_worker(spec: VerifierSpec) -> bool:
    """Whether the pool's workers call it: not our own that runs programs, which needs no walls itself, none that
    asks a service, and none that only puts together what others find."""
    in_sandbox = spec.score_in_sandbox is not None and not VERIFIERS.origin(spec.name).is_ours
    return spec.score is not None or in_sandbox


def modes_for(purpose: Purpose) -> dict[str, str]:
    """Return verifier -> its mode for a purpose, of the verifiers that have one."""
    return {s.name: s.mode_for[purpose] for s in VERIFIERS.all() if purpose in s.mode_for}


def plugin_label(origin: Origin) -> str | None:
    """Return what a verdict says of the plug-in it comes from: a hash or "name version"; None for ours."""
    if origin.is_ours:
        return None
    is_file = origin.version.startswith("sha256:")
    return origin.version if is_file else f"{origin.source} {origin.version}"
