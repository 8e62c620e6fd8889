"""Builds numeric or multiple-choice items from solved science problems.

Numbers are rounded in decimal, so that items are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

from prorl_datasets.procedural.items import Family, Item
from prorl_datasets.procedural.wordings import Wordings
from prorl_verifiers import Task

WORDINGS = Wordings(__name__)


FIELDS = (
    "mechanics",
    "electricity",
    "thermodynamics",
    "waves",
    "chemistry",
    "biology",
    "statistics",
    "facts",
)
"""Allowed first words of family names."""
LETTERS = "ABCDEF"
CHOICE_SHARE = 0.08
"""Share of solved problems in multiple-choice form; together with the facts, under a fifth of all items."""
NEAREST = 0.06
"""Minimum difference of two options, as a share of the larger one."""
OPTION_FIGURES = 3
"""Minimum number of significant figures of an option; with two, the right one could be off by 5%."""
FARTHEST = 1000.0
"""Maximum factor between an option and the right value."""
_SCALES = (
    (0.25, 0.4, 0.5, 0.7, 1.4, 1.75, 2.0, 2.5, 3.0, 4.0),
    (0.33, 0.5, 0.62, 0.75, 0.87, 1.15, 1.3, 1.6, 2.0, 2.8),
    (0.5, 0.66, 0.76, 0.84, 0.92, 1.09, 1.18, 1.3, 1.5, 1.9),
)
"""Factors of filler options by level, closer at higher levels."""
_FIGURES = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True, slots=True)
class Solved:
    """A problem with a numeric answer."""

    question: str
    """The statement; the builder adds the request for a unit or rounding."""
    value: float
    unit: str
    """Unit of ``value``; "" for pure numbers."""
    parameters: Mapping[str, Any]
    """JSON values: the drawn quantities and the unknown."""
    figures: int = 3
    """Significant figures that the question asks for."""
    wrong: tuple[float, ...] = ()
    """Results of typical mistakes; the builder drops unsuitable ones."""
    exact: bool = False
    """Whether the value is an integer or a decimal of at most 9 digits, which is not rounded."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with a ``right`` option and at least five ``wrong`` ones, of which five are drawn."""

    question: str
    right: str
    wrong: tuple[str, ...]
    parameters: Mapping[str, Any]


def stem_family(name: str, make: Callable[[Random, int], Solved | Choice]) -> Family:
    """Return a family whose problems are drawn by ``make(rng, level)``.

    Raises ValueError unless the name begins with one of ``FIELDS``.
    """
    if name.split("_")[0] not in FIELDS:
        raise ValueError(f"the name {name!r} does not begin with one of {', '.join(FIELDS)}")

    def generate(rng: Random, level: int) -> Item:
        made = make(rng, level)
        return choice_item(rng, made) if isinstance(made, Choice) else stem_item(rng, level, made)

    return Family(name, "stem", generate)


def stem_item(rng: Random, level: int, solved: Solved) -> Item:
    if not math.isfinite(solved.value) or (solved.value == 0 and not solved.exact):
        raise ValueError(f"the value {solved.value} cannot be an answer: {solved.question}")
    if rng.random() < CHOICE_SHARE:
        return _lettered(rng, solved, _options(rng, level, solved))
    text = value_text(solved.value, solved.figures, solved.exact, _scientific(solved))
    box = f"{text}\\ {_latex(solved.unit)}" if solved.unit else text
    tolerance = _tolerance(solved)
    reference: dict[str, Any] = {"answer": text}
    if solved.unit:
        reference["unit"] = solved.unit
    if tolerance is not None:
        reference["tolerance"] = tolerance
    return Item(
        question=f"{solved.question} {_request(rng, solved)}",
        task=Task("stem", reference),
        gold=f"\\boxed{{{box}}}",
        answer=text,
        metadata={"form": "numeric", "figures": None if solved.exact else solved.figures},
        parameters=solved.parameters,
        core=solved.question,
    )


def choice_item(rng: Random, choice: Choice) -> Item:
    """Return the question as an item with six shuffled options."""
    wrong = [text for text in dict.fromkeys(choice.wrong) if text != choice.right]
    if len(wrong) < len(LETTERS) - 1:
        raise ValueError(f"fewer than five different wrong options: {choice.question}")
    options = [choice.right, *rng.sample(wrong, len(LETTERS) - 1)]
    return _options_item(rng, choice.question, options, choice.parameters, None)


def clean(rng: Random, low: float, high: float, places: int = 0) -> float:
    scale: int = 10**places
    return rng.randint(round(low * scale), round(high * scale)) / scale


def rounded(value: float, figures: int = 3) -> float:
    """Round to significant figures, half away from zero."""
    return float(_decimal(value, figures))


def shown(value: float) -> str:
    r"""Return a stated number as ``12.5``, ``340`` or, beyond 6 digits, ``$3.2 \times 10^{-6}$``."""
    number = Decimal(repr(value)).normalize()
    if number == 0:
        return "0"
    if -4 < number.adjusted() < 6:
        return f"{number:f}"
    digits = number.scaleb(-number.adjusted())
    return f"${digits:f} \\times 10^{{{number.adjusted()}}}$"


def value_text(
    value: float, figures: int = 3, exact: bool = False, scientific: bool = False
) -> str:
    r"""Return an answer as ``12.3`` or ``1.23 \times 10^{-5}``; an ``exact`` value is not rounded."""
    if exact:
        number = Decimal(f"{value:.9g}").normalize()
        return f"{number:f}"
    number = _decimal(value, figures)
    place = number.adjusted()
    if not scientific:
        return f"{number.quantize(Decimal(1).scaleb(min(0, place - figures + 1))):f}"
    digits = number.scaleb(-place).quantize(Decimal(1).scaleb(1 - figures))
    return f"{digits:f} \\times 10^{{{place}}}"


def _decimal(value: float, figures: int) -> Decimal:
    number = Decimal(f"{value:.12e}")
    if number == 0:
        return number
    unit = Decimal(1).scaleb(number.adjusted() - figures + 1)
    return (number / unit).quantize(Decimal(1), ROUND_HALF_UP) * unit


def _scientific(solved: Solved) -> bool:
    return not 1e-2 <= abs(rounded(solved.value, solved.figures)) < 1e5


def _latex(unit: str) -> str:
    return f"\\text{{{unit.replace('%', chr(92) + '%')}}}"


def _tolerance(solved: Solved) -> float | None:
    """Return the relative tolerance of a rounded answer, or None for exact values.

    It is one unit of the last figure, at least 5 * 10^-figures, to allow for rounded intermediate results.
    """
    if solved.exact:
        return None
    value = abs(_decimal(solved.value, solved.figures))
    one = Decimal(1).scaleb(value.adjusted() - solved.figures + 1) / value
    return float(f"{max(float(one), float(f'5e-{solved.figures}')):.4g}")


def _request(rng: Random, solved: Solved) -> str:
    unit = f" in {solved.unit}" if solved.unit else ""
    if solved.exact:
        whole = not unit and float(solved.value).is_integer()
        kind = " as a whole number" if whole else unit or " as an exact decimal"
        return rng.choice((f"Give the answer{kind}.", f"State your answer{kind}."))
    name = _FIGURES[solved.figures]
    return WORDINGS.draw(
        rng, "request", unit=unit, solved=solved, name=name, value=unit or " with a number"
    )


def _options(rng: Random, level: int, solved: Solved) -> list[float]:
    """Return six values: the right one, up to four typical mistakes, and other wrong ones."""
    mistakes = [x for x in solved.wrong if math.isfinite(x) and x != 0]
    rng.shuffle(mistakes)
    scaled = [solved.value * factor for factor in _SCALES[level - 1]]
    rng.shuffle(scaled)
    whole = solved.exact and float(solved.value).is_integer()
    if whole:
        near = [solved.value + step for step in (-3, -2, -1, 1, 2, 3, 4, 5)]
        rng.shuffle(near)
        scaled = [float(math.floor(x + 0.5)) for x in scaled] + near
        mistakes = [x for x in mistakes if float(x).is_integer()]
    elif solved.exact:  # no option betrays itself by more decimals than data have
        mistakes = [round(x, 2) for x in mistakes]
        scaled = [round(x, 2) for x in scaled]
    options = [solved.value]
    for group, limit in ((mistakes, 5), (scaled, 6)):
        for value in group:
            if len(options) < limit and _is_usable_option(value, options, solved, whole):
                options.append(value)
    if len(options) < len(LETTERS):
        raise ValueError(f"fewer than six different options: {solved.question}")
    return options


def _option_figures(solved: Solved) -> int:
    return max(solved.figures, OPTION_FIGURES)


def _is_usable_option(value: float, options: Sequence[float], solved: Solved, whole: bool) -> bool:
    right = solved.value
    if right != 0 and not 1 / FARTHEST <= abs(value / right) <= FARTHEST:
        return False
    if whole and right >= 0 and value < 0:
        return False
    if not _scientific(solved) and not solved.exact and not 1e-4 <= abs(value) < 1e7:
        return False
    gap = NEAREST if not whole else 0.05
    if not solved.exact:  # as they will be shown
        figures = _option_figures(solved)
        value, options = rounded(value, figures), [rounded(other, figures) for other in options]
    return all(abs(value - other) > gap * max(abs(value), abs(other)) for other in options)


def _lettered(rng: Random, solved: Solved, values: Sequence[float]) -> Item:
    scientific = _scientific(solved)
    shown = _option_figures(solved)
    texts = [value_text(value, shown, solved.exact, scientific) for value in values]
    texts = [f"${text}$" if "\\" in text else text for text in texts]
    options = [f"{text} {solved.unit}".strip() for text in texts]
    figures = None if solved.exact else solved.figures
    return _options_item(rng, solved.question, options, solved.parameters, figures)


def _options_item(
    rng: Random,
    question: str,
    options: Sequence[str],
    parameters: Mapping[str, Any],
    figures: int | None,
) -> Item:
    place = rng.randint(0, len(options) - 1)
    wrong = list(options[1:])
    rng.shuffle(wrong)
    listed = [*wrong[:place], options[0], *wrong[place:]]
    letter = LETTERS[place]
    lines = "\n".join(f"{LETTERS[i]}) {text}" for i, text in enumerate(listed))
    request = WORDINGS.draw(rng, "options item")
    return Item(
        question=f"{question}\n\n{lines}\n\n{request}",
        task=Task("stem", {"answer": letter, "choices": listed}),
        gold=f"\\boxed{{{letter}}}",
        answer=letter,
        chance=round(1 / len(options), 4),
        metadata={"form": "choice", "figures": figures},
        parameters=parameters,
        core=question,
    )
