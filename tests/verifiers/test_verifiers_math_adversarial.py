"""Wrong answers that contain the right one: hedges, lists, chains, echoes and altered golds earn nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math


@dataclass(frozen=True)
class Right:
    """A gold, and a wrong answer of the same kind."""

    gold: str
    other: str


NUMBERS = (
    Right("59", "61"), Right("-318", "318"), Right("1{,}209{,}600", "1{,}209{,}601"), Right("8.7750", "8.7751"),
    Right("0.61803398874989", "0.61803398874889"), Right(r"\frac{137}{2881}", r"\frac{137}{2882}"),
    Right(r"7\frac{3}{7}", r"7\frac{4}{7}"), Right(r"\sqrt{170}", r"\sqrt{171}"), Right(r"\frac{49\pi}{9}", r"\frac{47\pi}{9}"),
    Right(r"3+\sqrt{7}", r"3-\sqrt{7}"), Right(r"2.26\times10^{-10}", r"2.26\times10^{-9}"), Right(r"19.6\overline{3}", "19.63"),
    Right("1011_2", "1101_2"), Right("7-13i", "7+13i"), Right("4500", "450"), Right(r"\ln 13", r"\ln 17"),
)  # fmt: skip
OTHERS = (
    Right(r"37\text{ km/h}", r"73\text{ km/h}"), Right(r"37\%", r"73\%"), Right(r"\$47.25", r"\$47.52"),
    Right(r"37^\circ", r"53^\circ"), Right("(13, 17, 29)", "(13, 29, 17)"), Right(r"\left(\frac{17}{3}, -\frac83\right)", r"\left(-\frac83, \frac{17}{3}\right)"),
    Right("A(3,-7)", "A(-7,3)"), Right(r"\{-13, 17, 29\}", r"\{13, 17, 29\}"), Right("17, 23, 41", "17, 23, 43"),
    Right(r"13\pm\sqrt{170}", r"13\pm\sqrt{171}"), Right("[13, 29)", "(13, 29]"), Right(r"x\ge\frac{17}{3}", r"x\le\frac{17}{3}"),
    Right(r"(-\infty,-17)\cup(23,\infty)", r"(-\infty,17)\cup(23,\infty)"), Right(r"\begin{pmatrix}7&-11\\13&17\end{pmatrix}", r"\begin{pmatrix}7&13\\-11&17\end{pmatrix}"),
    Right(r"\langle 13,-7,19\rangle", r"\langle 13,19,-7\rangle"), Right("6x^2-14x+3", "6x^2-14x-3"), Right(r"\frac{3b-2c}{b+5c}", r"\frac{3b+2c}{b+5c}"),
    Right("x^3+C", "x^3"), Right("y=7x-13", "y=7x+13"), Right("(x-7)^2+(y+11)^2=23", "(x-7)^2+(y+11)^2=29"), Right("x=17, y=23", "x=23, y=17"),
    Right("p=5,q=2;p=7,q=3", "p=5,q=3;p=7,q=2"), Right("AB=17", "CD=17"), Right("11:21", "21:11"), Right(r"x=\frac{\pi}{7}+2k\pi, k\in\mathbb{Z}", r"x=\frac{\pi}{7}+k\pi, k\in\mathbb{Z}"),
    Right(r"A\cap(B\cup C)", r"A\cup(B\cap C)"), Right(r"\begin{cases}x^2&x>0\\-x&x\le0\end{cases}", r"\begin{cases}x^2&x\le0\\-x&x>0\end{cases}"),
    Right(r"\text{Wednesday}", r"\text{Thursday}"), Right("C", "D"), Right(r"\text{(C) }33", r"\text{(C) }35"), Right("4:30 p.m.", "4:30 a.m."),
    Right("f(x)=3x+7", "g(x)=3x+7"), Right(r"\emptyset", "0"), Right(r"\infty", r"-\infty"),
)  # fmt: skip
HEDGES = (
    "{g} or {o}", "{o} or {g}", r"{g} \text{{ or }} {o}", "either {g} or {o}", "maybe {g}", "perhaps {g}", "{g}?", "{g} maybe", "{g}, I guess",
    r"\text{{possibly }} {g}", "{g} or maybe {o}", "{g} vs {o}", "probably {g}",
)  # fmt: skip
DENIALS = (
    "not {g}", r"\text{{not }} {g}", "It is false that {g}", "It is false that the answer is {g}", "{g} is wrong", "{g} is not the answer",
    "The answer is not {g}", "anything but {g}", "The answer can't be {g}", "{g} is false", "It is impossible that it is {g}", "{o}, not {g}",
    "never {g}", "I deny that it is {g}", "neither {g} nor {o}", "The answer isn't {g}.", "The claim that it is {g} is refuted.", "No, {g} fails.",
)  # fmt: skip
HEAPS = (
    "{g}, {o}", "{o}, {g}", "{g}; {o}", "{o}; {g}", r"{g} \quad {o}", r"{o} \\ {g}", "{g}\n{o}", r"{g} \text{{ and }} {o}", r"\{{{g}, {o}\}}",
    "{o} {g}", "{g} / {o}", r"{o} \to {g}", r"{o} \Rightarrow {g}", "A) {g} B) {o}", "({g}) ({o})", "{g} {g} {o}",
    "The answer is {o}. The answer is {g}, or {o}.", "first {o} then {g}",
)  # fmt: skip
CHAINS = (
    "{o} = {g}", "{g} = {o}", "1 = 2 = {g}", "{o} = {g} = {g}", "{g} = {o} = {g}", "0 = 1, {g}",
    r"{o} \approx {g}", r"{g} \ne {g}",
)  # fmt: skip
BOXES = (
    r"\boxed{{{o}}} or \boxed{{{g}}}", r"\boxed{{{g}}} and \boxed{{{o}}}", r"\boxed{{{g}}}, \boxed{{{o}}}", r"\boxed{{{g}}} \boxed{{{o}}}",
    r"$\boxed{{{o}}}$ or $\boxed{{{g}}}$", r"\boxed{{{g}}} So it is \boxed{{{o}}}",
)  # fmt: skip
SPOILT = (
    "-({g})-1", "{g}+1", "2({g})", "{g}!", "{g}^2", "{g}e1", r"10 \cdot {g}", "{g}i", "{g} thousand", "the opposite of {g}", "twice {g}",
    "half of {g}", r"\frac{{1}}{{{g}}}", "{g}{g}", "{g}.5", "{g} squared", "less than {g}", "at least {g}", "{g} or more", "up to {g}", "> {g}",
    "between {g} and {o}", "{g} - {o}", r"\sqrt{{{g}}}",
)  # fmt: skip


def boxed(templates: tuple[str, ...], rights: tuple[Right, ...]) -> Iterator[tuple[str, str]]:
    for right in rights:
        for template in templates:
            yield right.gold, rf"\boxed{{{template.format(g=right.gold, o=right.other)}}}"


def digits_changed() -> Iterator[tuple[str, str]]:
    for right in (*NUMBERS, *OTHERS):
        for place in re.finditer(r"(?<![_\\])[2-9](?![^{]*\})|(?<=\{)[2-9]", right.gold):
            digit = str(int(place.group()) % 9 + 1)
            yield (
                right.gold,
                rf"\boxed{{{right.gold[: place.start()]}{digit}{right.gold[place.end() :]}}}",
            )


def precision_halved() -> Iterator[tuple[str, str]]:
    for gold in ("8.7751", "0.68425", "3.14159265", "0.61803398874989", "27.4431", "1.00057"):
        digits = len(gold) - gold.index(".") - 1
        for kept in range(1, digits):
            rounded = f"{float(gold):.{kept}f}"
            if float(rounded) != float(gold) and not (len(gold) > 11 and kept >= 10):
                yield gold, rf"\boxed{{{rounded}}}"


def loose_boxes() -> Iterator[tuple[str, str]]:
    for right in (*NUMBERS, *OTHERS):
        for template in BOXES:
            yield right.gold, template.format(g=right.gold, o=right.other)


def echoes() -> Iterator[tuple[str, str]]:
    for question, gold in (
        (r"\sum_{k=1}^{30} 3k^2", "28365"), (r"\binom{17}{5}", "6188"), ("17C5", "6188"), (r"{17 \choose 5}", "6188"), (r"{}_{17}P_2", "272"),
        ("13!/11!", "156"), (r"\gcd(5187, 8151)", "741"), (r"\sin 75^\circ", r"\frac{\sqrt6+\sqrt2}{4}"), (r"173 \cdot 29", "5017"),
        (r"\int_0^3 x^2\,dx + 8", "17"), (r"\arctan 1 + \pi", r"\frac{5\pi}{4}"), ("7^4 + 13", "2414"), (r"\log_2 1024", "10"), ("1011_2", "11"),
        (r"\det\begin{pmatrix}2&1\\1&2\end{pmatrix}", "3"), (r"\begin{vmatrix}2&1\\1&2\end{vmatrix}", "3"), (r"\lim_{x\to0}\frac{\sin x}{x}", "1"),
        (r"\lfloor 7.9 \rfloor", "7"), (r"|{-7}|", "7"), ("2+3", "5"), ("3x=15", "5"), (r"\sin 1", "0.8414709848"), (r"\max(3,5)", "5"),
    ):  # fmt: skip
        for frame in ("{}", "Compute {}", "The value of {}", "What is {}?", "{} = {}"):
            yield gold, rf"\boxed{{{frame.format(*[question] * 2)}}}"
        yield gold, rf"\boxed{{{question} = {gold} = 99991}}"


def of_the_same_value(gold: str, response: str) -> bool:
    """Return whether a mutation happens to equal the gold."""
    return (gold, response) in UNSPOILT


UNSPOILT = {(r"\text{(C) }33", r"\boxed{\text{(C) }35}"), (r"\infty", r"\boxed{\infty+1}")}
INTEGERS = (Right("59", "61"), Right("4500", "450"), Right("7", "8"), Right("-318", "318"))
DIGITS = (
    "{g}0", "{g}.5", "{g}{g}", "{g} {g}", "{g},{g}", "{g}/2", "{g}e-1", "{g}%", r"{g}\%", "{g}_9",
    "0.{g}", "{g}:1:1",
)  # fmt: skip
CASES = [
    (kind, gold, response)
    for kind, pairs in (
        ("hedge", boxed(HEDGES, (*NUMBERS, *OTHERS))),
        ("denial", boxed(DENIALS, (*NUMBERS, *OTHERS))),
        ("heap", boxed(HEAPS, (*NUMBERS, *OTHERS))),
        ("chain", boxed(CHAINS, (*NUMBERS, *OTHERS))),
        ("several boxes", loose_boxes()),
        ("other answer", boxed(("{o}", "The answer is {o}.", "{o} = {o}"), (*NUMBERS, *OTHERS))),
        ("spoilt", boxed(SPOILT, NUMBERS)),
        ("digits added", boxed(DIGITS, INTEGERS)),
        ("digit", digits_changed()),
        ("precision", precision_halved()),
        ("echo", echoes()),
    )
    for gold, response in pairs
    if not of_the_same_value(gold, response)
]


def test_there_are_more_than_a_thousand_wrong_answers_of_every_kind() -> None:
    assert len(CASES) > 2000
    assert len({(gold, response) for _, gold, response in CASES}) > 0.98 * len(CASES)


@pytest.mark.parametrize("right", (*NUMBERS, *OTHERS), ids=lambda right: right.gold)
def test_the_golds_themselves_earn_the_reward(right: Right) -> None:
    assert (
        score_math(rf"\boxed{{{right.gold}}}", {"answer": right.gold}, load_library).reward == 1.0
    )


@pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in CASES}))
def test_no_wrong_answer_earns_a_reward(kind: str) -> None:
    paid = [
        (gold, response)
        for name, gold, response in CASES
        if name == kind and score_math(response, {"answer": gold}, load_library).reward > 0
    ]
    assert paid == []
