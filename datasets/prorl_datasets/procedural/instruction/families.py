"""Combines a request with compatible IFEval constraints: one family per id, and ``ifeval_mixed``.

As in IFEval, the reward does not check the request itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from prorl_datasets.procedural.instruction.conflicts import plan_conflicts
from prorl_datasets.procedural.instruction.constraints.form import form_kinds
from prorl_datasets.procedural.instruction.constraints.words import word_kinds
from prorl_datasets.procedural.instruction.drawn import Context, Drawn, Kind
from prorl_datasets.procedural.instruction.layout import units_of
from prorl_datasets.procedural.instruction.plan import read_plan
from prorl_datasets.procedural.instruction.request_conflicts import request_conflicts
from prorl_datasets.procedural.instruction.requests import DAILY, requests
from prorl_datasets.procedural.instruction.witness import compose
from prorl_datasets.procedural.items import Family, Item
from prorl_verifiers import Task

_APART = (
    (
        "response_language: existence frequency forbidden_words letter_frequency number_sentences "
        "end_checker constrained_response nth_paragraph_first_word capital_word_frequency "
        "repeat_prompt english_capital english_lowercase multiple_sections"
    ),
    (
        "json_format: number_sentences number_paragraphs nth_paragraph_first_word postscript title "
        "number_bullet_lists constrained_response number_highlighted_sections multiple_sections "
        "two_responses repeat_prompt end_checker quotation english_capital no_comma"
    ),
    (
        "two_responses: number_paragraphs nth_paragraph_first_word multiple_sections repeat_prompt "
        "end_checker number_bullet_lists constrained_response postscript number_sentences"
    ),
    (
        "repeat_prompt: quotation english_capital english_lowercase nth_paragraph_first_word "
        "number_paragraphs number_sentences constrained_response"
    ),
    (
        "nth_paragraph_first_word: number_paragraphs multiple_sections title postscript quotation "
        "constrained_response number_bullet_lists"
    ),
    (
        "constrained_response: english_capital english_lowercase number_paragraphs "
        "multiple_sections number_sentences"
    ),
    "capital_word_frequency: english_capital english_lowercase",
    "english_capital: english_lowercase letter_frequency number_sentences end_checker",
    "english_lowercase: end_checker postscript multiple_sections",
    "number_paragraphs: multiple_sections",
    "end_checker: postscript quotation",
)
"""Pairs that are never combined, since they contradict each other or would read oddly."""
_UNSPACED = frozenset(("ja", "th"))
"""Languages without spaces, in which tools count words differently."""
_DAILY_SHARE = 0.04
"""Share of the mixed items that ask for another language; their requests are DAILY."""
_FOREIGN_SENTENCES, _FOREIGN_WORDS = 6, 40
"""Minimum number of sentences and words available in every language."""
_TRIES = 40
_JOINS = ("{r} {s}", "{r} {s}", "{r}\n\n{s}", "{s}\n\n{r}")
_LISTS = (
    "{r}\n\nFollow these rules:\n{l}",
    "{r}\nRequirements:\n{l}",
    "Keep to the rules below.\n{l}\n\n{r}",
    "{r}\n\nThe answer has to meet all of the following.\n{l}",
)


def kinds() -> tuple[Kind, ...]:
    return (*word_kinds(), *form_kinds())


def apart() -> frozenset[tuple[str, str]]:
    """Return the pairs of constraint names, each in both orders, that are never combined."""
    pairs: list[tuple[str, str]] = []
    for line in _APART:
        left, _, candidates = line.partition(": ")
        pairs += [pair for right in candidates.split() for pair in ((left, right), (right, left))]
    return frozenset(pairs)


def fits(drawn: Sequence[Drawn], context: Context) -> bool:
    """Return whether the constraints are compatible with each other and the request, and allow complete sentences."""
    plan = read_plan([one.id for one in drawn], [one.kwargs for one in drawn])
    bullets, units = sum(plan.bullets), units_of(plan)
    if any(request_conflicts(context.request, context.topic, plan)):
        return False
    if _UNSPACED & set(plan.languages) and (plan.words.low or plan.words.high is not None):
        return False
    if plan.languages and (
        max(plan.sentences.low, 2 * units, bullets) > _FOREIGN_SENTENCES
        or plan.words.low > _FOREIGN_WORDS
    ):
        return False
    named = sum(span.low for span in plan.keywords.values())
    needed = -(-named // 2)  # two keywords go into a sentence
    needed += plan.placeholders + max(2 * units, plan.highlights)
    if plan.sentences.high is not None and plan.sentences.high < needed:
        return False
    if plan.words.high is not None and plan.words.high < 25 * units + 6 * bullets:
        return False
    return not plan_conflicts(plan)


class _Drawing:
    def __init__(self) -> None:
        self.kinds, self.apart = kinds(), apart()
        (self.language,) = (kind for kind in self.kinds if kind.short == "response_language")

    def draw(
        self, rng: Random, first: Kind | None, number: int, context: Context
    ) -> list[Drawn] | None:
        """Return at least ``number`` compatible constraints, including ``first``, or None if too few were found."""
        candidates = [kind for kind in self.kinds if kind not in (first, self.language)]
        candidates = [
            k for k in candidates if context.question or k.short != "constrained_response"
        ]
        rng.shuffle(candidates)
        used: list[Kind] = []
        drawn: list[Drawn] = []
        for kind in [*([first] if first else []), *candidates]:
            if len(drawn) >= number and any(one.narrow for one in drawn):
                return drawn
            need_narrow = len(drawn) >= number - 1 and not any(one.narrow for one in drawn)
            if (need_narrow and drawn and not kind.narrow) or self._clashes(kind, used):
                continue
            one = kind.draw(rng, context)
            both = [*drawn, one]
            if fits(both, context):
                used.append(kind)
                drawn = both
            elif kind is first:  # the request rules it out, or not as it was drawn
                return None
        return drawn if len(drawn) >= number and any(one.narrow for one in drawn) else None

    def _clashes(self, kind: Kind, used: Sequence[Kind]) -> bool:
        return any((kind.short, other.short) in self.apart for other in used)


def _question(rng: Random, request: str, sentences: Sequence[str]) -> str:
    if len(sentences) > 1 and rng.random() < 0.4:
        marks = rng.choice(("- ", "* ", "# "))
        lines = [
            (f"{at}. " if marks == "# " else marks) + text
            for at, text in enumerate(sentences, start=1)
        ]
        return rng.choice(_LISTS).format(r=request, l="\n".join(lines))
    return rng.choice(_JOINS).format(r=request, s=" ".join(sentences))


def _attempt(drawing: _Drawing, rng: Random, first: Kind | None, level: int) -> Item | None:
    if first is None and rng.random() < _DAILY_SHARE:
        first = drawing.language
    is_question = first.short == "constrained_response" if first else rng.random() < 0.06
    if first is drawing.language:
        chosen = rng.choice(DAILY)
    else:
        chosen = rng.choice([one for one in requests() if one.yes_or_no == is_question])
    topic = rng.choice(chosen.topics)
    request = chosen.template.format(t=topic)
    number = level + rng.randint(0, 1)
    drawn = drawing.draw(rng, first, number, Context(request, topic, is_question, level))
    if drawn is None or len(drawn) > level + 1:
        return None
    rng.shuffle(drawn)
    ids, kwargs = [one.id for one in drawn], [dict(one.kwargs) for one in drawn]
    question = _question(rng, request, [one.sentence for one in drawn])
    gold = compose(ids, kwargs, question, topic, chosen.answer)
    if gold is None:
        return None
    constraints = sorted(
        ([name, values] for name, values in zip(ids, kwargs, strict=True)), key=repr
    )
    return Item(
        question,
        Task("instruction", {"instruction_id_list": ids, "kwargs": kwargs}),
        gold,
        metadata={"constraints": len(ids)},
        parameters={"request": request, "constraints": constraints},
        core=request,
    )


def _generator(drawing: _Drawing, first: Kind | None) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        for _ in range(_TRIES):
            item = _attempt(drawing, rng, first, level)
            if item is not None:
                return item
        raise RuntimeError(f"no item of {first.id if first else 'ifeval_mixed'} in {_TRIES} tries")

    return generate


def make_families() -> tuple[Family, ...]:
    """Return one family per IFEval id (``ifeval_<part after the colon>``) and ``ifeval_mixed``.

    Items of level n have n or n + 1 constraints.
    """
    drawing = _Drawing()
    singles = [
        Family(f"ifeval_{kind.short}", "instruction", _generator(drawing, kind))
        for kind in drawing.kinds
    ]
    return (*singles, Family("ifeval_mixed", "instruction", _generator(drawing, None)))


FAMILIES = make_families()
