"""Answers are compared over the domain of the gold: as functions, as sets of points and as sequences."""

from __future__ import annotations

import pytest

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math

CASES: list[tuple[str, list[str], list[str]]] = [
    # gold, right answers, wrong answers
    (r"5\cos(2\pi t)", [r"5-10\sin^2(\pi t)"], ["5", r"5\cos(4\pi t)"]),
    ("x^2", ["x^2+0", r"\sqrt{x^4}"], [r"\lfloor x^2\rfloor", "x|x|", r"(\sqrt x)^4", r"e^{2\ln x}", r"x^2+\sin(\pi x)"]),
    (r"-2\sin(\pi x)+4", [r"4-2\sin(\pi x)"], [r"2\sin(\pi x)+4", "4"]),
    (r"x-\lfloor x\rfloor", [r"x+\lceil -x\rceil"], ["0", r"\lceil x\rceil-x"]),
    (r"\lfloor x\rfloor", [r"-\lceil-x\rceil", r"\lfloor x+1\rfloor-1"], ["x", r"\lceil x\rceil-1"]),
    (r"\lceil n/2\rceil", [r"\lfloor\frac{n+1}{2}\rfloor"], [r"\lfloor\frac n2\rfloor"]),
    (r"\binom nk", [r"\frac{n!}{k!(n-k)!}", r"\binom{n}{n-k}"], [r"\binom{n}{k+1}", r"\frac{n!}{k!}"]),
    ("(-1)^n", [r"\cos(\pi n)", "(-1)^{n+2}"], ["(-1)^{n+1}", "1"]),
    (r"\operatorname{lcm}(a,b)", [r"\operatorname{lcm}(b,a)"], ["ab", r"\gcd(a,b)"]),
    (r"|x-5|", [r"\sqrt{(x-5)^2}", r"\max(x-5,5-x)"], ["x-5", "5-x"]),
    (r"\max(x,-1000)", [r"\max(-1000,x)"], ["x"]),
    (r"2\ln x", [r"\ln x^2", r"\ln(x\cdot x)"], [r"\ln x", r"2\ln(x+1)"]),
    (r"\ln x^2", [r"2\ln|x|"], [r"2\ln x"]),
    (r"\ln a+\ln b", [r"\ln(ab)"], [r"\ln(a+b)", r"\ln|ab|+1"]),
    (r"\sqrt{\frac ab}", [r"\frac{\sqrt{ab}}{b}", r"\frac{\sqrt a}{\sqrt b}"], [r"\sqrt{ab}"]),
    (r"\sqrt{x^2-1}", [r"\sqrt{(x-1)(x+1)}"], [r"\sqrt{x-1}\sqrt{x+1}", "x-1"]),
    (r"-\sqrt2", [r"\sqrt[3]{-2\sqrt2}"], [r"\sqrt[3]{2\sqrt2}"]),
    (r"\sqrt[3]{x-y}", [r"-\sqrt[3]{y-x}"], [r"\sqrt[3]{|x-y|}"]),
    ("1", [r"\sin^2x+\cos^2x", r"\tan x\cot x"], [r"\frac{|x|}x", r"\gcd(a,b)", r"\sin^2x-\cos^2x"]),
    (r"\frac\pi2", [], [r"\arcsin x+\arccos x", r"\arctan x+\arctan\frac1x"]),
    (r"\cosh x-\sinh x", ["e^{-x}"], ["e^x"]),
    (r"\sin(7\pi)", ["0"], ["1"]),
    (r"\max(a,b)", [r"\frac{a+b+|a-b|}2"], [r"\min(\emptyset)", "a", r"\max(a,i)"]),
    (r"\max(1,\pi)", [r"\pi"], ["1"]),
    # curves
    ("y^2=x", ["x=y^2", r"|y|=\sqrt x"], [r"y=\sqrt x", "y=x^2"]),
    ("|x|=3", ["x^2=9"], ["x=3", "x=-3", "x^3=27"]),
    (r"y=\ln x", ["e^y=x"], [r"y=\frac12\ln x^2", r"y=\ln|x|"]),
    ("y=x", ["y^3=x^3", "e^x=e^y", "(x-y)^2=0", "(y-x)(x^2+1)=0"], ["x(y-x)=0", "y^2=x^2", r"\ln x=\ln y", r"\sqrt x=\sqrt y", r"(y-x)(\cos x-1)=0", r"(y-x)|x|=0", r"\sin x=\sin y", "0=0", "|y|=y"]),
    ("x^2=a", ["a=x^2"], [r"x=\sqrt a", r"x=-\sqrt a"]),
    ("x^2+y^2=4", [r"\sqrt{x^2+y^2}=2"], [r"y=\sqrt{4-x^2}", "(x^2+y^2-4)(x^2+y^2-1)=0"]),
    ("y^2=4x", [r"\sqrt{(x-1)^2+y^2}=|x+1|"], [r"y=2\sqrt x"]),
    (r"T=2\pi\sqrt{\frac Lg}", [r"T=\frac{2\pi\sqrt L}{\sqrt g}"], [r"T=2\pi\sqrt{Lg}"]),
    ("b>a", ["a<b", "b-a>0"], ["a>b", r"b\ge a"]),
    ("a^2>b^2", ["|a|>|b|"], ["a>b"]),
    (r"\begin{cases}x+y=3\\x-y=1\end{cases}", ["x-y=1, x+y=3", r"\begin{cases}x+y=3\\2x=4\end{cases}"], ["x+y=3, x-y=2", "x+y=3, 2x+2y=6"]),
    ("110.304=23^{1.5}", ["23^{1.5}=110.304"], ["23^{1.5}=110.305"]),
    (r"\cos(2\pi)=1, \sin(2\pi)=0", [], [r"\cos(2\pi)=1, \sin(2\pi)=1"]),
    (r"\lim_{x\to0}f(x)=0", [], [r"\lim_{x\to0}f(x)=1", "2=3"]),
    # free constants
    ("f(x)=cx", ["f(x)=kx", r"f(x)=Cx\text{ for any constant }C", r"f(x)=kx,\ k\in\mathbb R"], ["f(x)=2x", "f(x)=cx^2", "f(x)=kx+1"]),
    ("f(x)=ax+b", ["f(x)=cx+d"], ["f(x)=bx+a", "f(x)=cx+c"]),
    (r"\sin^2x+C", [r"C-\cos^2x"], [r"\cos^2x+C"]),
    # sequences
    (r"1,2,\ldots,n", [r"1,2,3,\dots,n", r"1,\ldots,n", r"1,2,\ldots,n-1,n"], [r"1,3,5,\ldots,2n-1", r"1,2,\ldots,n-1", "1,2,n", "n", r"1,2,4,\ldots,n"]),
    (r"2,4,6,\ldots,2n", [r"2,4,\ldots,2n"], [r"1,3,5,\ldots,2n-1", r"2,\ldots,2n", r"2,4,8,\ldots,2n"]),
    (r"n,\ldots,2n", [r"n,n+1,\ldots,2n"], [r"n+1,\ldots,2n"]),
    (r"1,4,\ldots,n^2", [r"1,4,9,16,\ldots,n^2"], [r"1,4,7,\ldots,n^2"]),
    (r"1,3,5,\ldots", [r"1,3,5,7,\ldots"], [r"1,3,9,\ldots", r"1,3,5,\ldots,2n-1"]),
    (r"a_1,a_2,\ldots,a_n", [r"a_1,\ldots,a_n"], [r"a_2,\ldots,a_n", r"b_1,\ldots,b_n"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("gold", "answer", "reward"),
    [(gold, answer, 1.0) for gold, right, _ in CASES for answer in right]
    + [(gold, answer, 0.0) for gold, _, wrong in CASES for answer in wrong],
)
def test_an_answer_is_paid_if_it_agrees_on_the_whole_domain_of_the_gold(
    gold: str, answer: str, reward: float
) -> None:
    score = score_math(rf"\boxed{{{answer}}}", {"answer": gold}, load_library)
    assert score.reward == reward, score
