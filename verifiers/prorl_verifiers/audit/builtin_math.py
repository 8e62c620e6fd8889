r"""Built-in math and STEM tasks to attack: golds of many kinds, chosen so that no probe is right by luck.

Each item is (question, gold); the question is what an echo repeats. Chance is 0, multiple choice apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prorl_verifiers.audit.items import Group, Item
from prorl_verifiers.tasks import load_task

Pairs = Sequence[tuple[str, str]]

_MATH: dict[str, Pairs] = {
    "integers": (
        ("Find the remainder of $7^{2026}$ on division by $10007$.", "4173"),
        ("How many paths lead from $(0,0)$ to $(9,7)$?", "11440"),
        ("What is $-318 \\cdot 29$?", "-9222"),
        ("How many seconds are in 14 days?", "1{,}209{,}600"),
    ),
    "fractions": (
        ("What is the probability of two aces among 7 cards?", "\\frac{137}{2881}"),
        ("Which fraction has the repeating decimal 0.1(36)?", "\\frac{3}{22}"),
        ("Solve $19x = -64$.", "-\\dfrac{64}{19}"),
        ("What is $3\\frac{1}{7} + 4\\frac{2}{7}$?", "7\\frac{3}{7}"),
        ("How small is the chance of a match?", "\\frac{1}{2004!}"),
    ),
    "decimals": (
        ("Round $\\sqrt{77}$ to four places.", "8.7750"),
        ("What is 17.5% of 3.91?", "0.68425"),
        ("Find the mean of 13.7, 15.9 and 29.3.", "19.6\\overline{3}"),
    ),
    "surds and constants": (
        ("Find the hypotenuse for legs 7 and 11.", "\\sqrt{170}"),
        ("What is the area of a circle of radius $\\frac{7}{3}$?", "\\frac{49\\pi}{9}"),
        ("Solve $x^2 - 6x + 2 = 0$ for the larger root.", "3+\\sqrt{7}"),
        ("Solve $e^x = 13$.", "\\ln 13"),
        ("What is the angle in degrees?", "37^\\circ"),
    ),
    "tuples and points": (
        ("Where do the lines meet?", "\\left(\\frac{17}{3}, -\\frac{8}{3}\\right)"),
        ("Find $(a, b, c)$.", "(13, 17, 29)"),
        ("In polar coordinates?", "\\left(7, \\frac{3\\pi}{7}\\right)"),
    ),
    "sets": (
        ("Find all roots.", "\\{-13, 17, 29\\}"),
        ("For which $x$ is it undefined?", "\\{\\sqrt{13}, -\\sqrt{13}\\}"),
        ("Which values can $k$ take?", "17, 23, 41"),
        ("Solve $x^2 = 26x + 1$.", "13 \\pm \\sqrt{170}"),
    ),
    "intervals": (
        ("Where is $f$ increasing?", "(-\\infty, -17) \\cup (23, \\infty)"),
        ("What is the range?", "[13, 29)"),
        ("Solve the inequality.", "x \\ge \\frac{17}{3}"),
        ("For which $x$ does it converge?", "-7 < x \\le 11"),
    ),
    "matrices and vectors": (
        ("Find $A^{-1}$.", "\\begin{pmatrix} 7 & -11 \\\\ 13 & 17 \\end{pmatrix}"),
        ("Find the projection.", "\\begin{pmatrix} 17 \\\\ -23 \\\\ 5 \\end{pmatrix}"),
        ("Find the normal.", "\\langle 13, -7, 19 \\rangle"),
    ),
    "formulas": (
        ("Find the derivative of the volume.", "6x^2 - 14x + 3"),
        ("Find the closed form.", "\\frac{n(n+1)(2n+7)}{6}"),
        ("What is $a$ in terms of $b$ and $c$?", "\\frac{3b - 2c}{b + 5c}"),
        ("Find $F(x)$.", "x \\sin x + \\cos x + 3"),
    ),
    "equations": (
        ("Find the line.", "y = 7x - 13"),
        ("Find the circle.", "(x-7)^2 + (y+11)^2 = 23"),
        ("Find the plane.", "3x - 5y + 13 = 0"),
    ),
    "words": (
        ("On which day was it?", "\\text{Wednesday}"),
        ("Who has won?", "Evelyn"),
        ("What is the shape?", "\\text{hyperbola}"),
    ),
    "numbers with units": (
        ("How fast is it?", "37\\text{ km/h}"),
        ("How large is the area?", "173\\text{ cm}^2"),
        ("What does it cost?", "\\$47.25"),
        ("Which share is it?", "37\\%"),
    ),
    "zero, one and infinity": (
        ("What is the limit?", "\\infty"),
        ("What is the value of $17 - 17$?", "0"),
        ("What is the value of $\\frac{17}{17}$?", "1"),
        ("Which complex numbers?", "7 - 13i"),
    ),
    "question left as it is: sums": (
        ("Compute $\\sum_{k=1}^{30} 3k^2$.", "28365"),
        ("Compute $\\binom{17}{5}$.", "6188"),
        ("Compute $13!/11!$.", "156"),
        ("Compute $\\gcd(5187, 8151)$.", "741"),
        ("Compute $\\sin 75^\\circ$.", "\\frac{\\sqrt6+\\sqrt2}{4}"),
        ("Compute $173 \\cdot 29$.", "5017"),
        ("Compute $\\int_0^3 x^2\\,dx + 8$.", "17"),
        ("Compute $\\arctan 1 + \\pi$.", "\\frac{5\\pi}{4}"),
        ("Compute $7^4 + 13$.", "2414"),
    ),
}
_OWN_CHANCE = ("zero, one and infinity",)
"""Families whose golds a constant may meet: their chance comes from the golds."""

_STEM: dict[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "plain numbers": (
        ("How many neutrons?", {"answer": "143"}),
        ("What is the ratio?", {"answer": "2.73"}),
        ("What is the yield?", {"answer": "67.4", "tolerance": 0.01}),
        ("How large is the error?", {"answer": "-0.0261", "tolerance": {"abs": 0.0002}}),
    ),
    "numbers with units": (
        ("How fast is it?", {"answer": "37.4", "unit": "m/s"}),
        ("What is the energy of 3.1 mol?", {"answer": "-241.8", "unit": "kJ/mol"}),
        ("What is the wavelength?", {"answer": "589 nm"}),
        ("How heavy is it?", {"answer": "7.35", "unit": "kg", "tolerance": 0.02}),
        ("What is the temperature?", {"answer": "-173.6", "unit": "°C"}),
    ),
    "scientific notation": (
        ("How many molecules?", {"answer": "6.31 \\times 10^{21}"}),
        ("What is the charge?", {"answer": "4.7e-17", "unit": "C"}),
        ("What is the constant?", {"answer": "1.8\\cdot 10^{-5}"}),
    ),
    "formulas": (
        ("What is the period?", {"answer": "2\\pi\\sqrt{\\frac{m}{k}}"}),
        ("What is the force?", {"answer": "\\frac{G M m}{r^2}"}),
        ("Which gas forms?", {"answer": "CO2"}),
        ("What is the configuration?", {"answer": "[Ar] 3d^{7} 4s^{2}"}),
    ),
    "words": (
        ("Which organelle?", {"answer": "mitochondrion"}),
        ("Which law is it?", {"answer": "Kirchhoff's voltage law"}),
    ),
    "several parts": (
        ("What are the two masses?", {"answer": "3.7 kg, 11.9 kg"}),
        ("Where is it, and when?", {"answer": "(a) 17.3 m (b) 2.9 s"}),
    ),
}
_CHOICES: Sequence[tuple[str, str, Sequence[str]]] = (
    ("Which is the largest?", "A", ("Jupiter", "Saturn", "Neptune", "Mars")),
    ("How many bonds?", "B", ("7", "8", "9", "10")),
    ("Which speed?", "C", ("13 m/s", "17 m/s", "19 m/s", "23 m/s")),
    ("Which holds?", "D", ("A and B", "both A and C", "none", "all of the above")),
    ("Which acid?", "Formic acid", ("Acetic acid", "Formic acid", "Citric acid", "Nitric acid")),
    ("What follows?", "C", ("It is true", "It is false", "It depends on A", "It cannot be known")),
    ("Which formula?", "A", ("$\\frac{m}{v}$", "$mv$", "$\\frac{v}{m}$", "$mv^2$")),
    ("Which letter marks it?", "D", ("D", "C", "B", "A")),
)


def math_groups() -> list[Group]:
    """Return the built-in math tasks, a group a kind of gold."""
    return [
        _group(
            f"math: {kind}",
            "math",
            [(question, {"answer": gold}) for question, gold in pairs],
            None if kind in _OWN_CHANCE else 0.0,
        )
        for kind, pairs in _MATH.items()
    ] + [_letters()]


def stem_groups() -> list[Group]:
    """Return the built-in STEM tasks, a group a kind of gold; multiple choice with chance 1/4."""
    groups = [_group(f"stem: {kind}", "stem", pairs, 0.0) for kind, pairs in _STEM.items()]
    choices = [
        (f"{question}\n" + "\n".join(options), {"answer": gold, "choices": list(options)})
        for question, gold, options in _CHOICES
    ]
    return [*groups, _group("stem: multiple choice", "stem", choices, None)]


def _letters() -> Group:
    pairs = [
        (f"Which one is it? ({number})", {"answer": "ABCDE"[number % 5]}) for number in range(10)
    ]
    return _group("math: letters of multiple choice", "math", pairs, None)


def _group(
    name: str, verifier: str, pairs: Sequence[tuple[str, Mapping[str, Any]]], chance: float | None
) -> Group:
    items = [
        Item(f"{name} {at}", load_task(verifier, dict(ref)), question, str(ref["answer"]), chance)
        for at, (question, ref) in enumerate(pairs, start=1)
    ]
    return Group(name, verifier, items)
