"""How the math verifier reads answers: right and wrong members of each class, by gold."""

from __future__ import annotations

import pytest

from prorl_verifiers.extract import after_thinking
from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math
from prorl_verifiers.stem.scorer import score_stem

Rows = dict[str, tuple[str, str]]
"""Gold to (right answers, wrong answers), separated by " | "."""

UNITS: Rows = {
    "5 km": (
        r"5 km | 5\text{ km} | 5\ \mathrm{km} | 5000 m | 5 kilometres | The distance is 5 km. | 5 km away | 5",
        r"5 kg | 5 m | 5 miles | 5 hours | 5 cm | \$5 | 5 apples | 5 km^2 | 5 km/h | 5 km per hour | it is 5 kg | 5% | 5 degrees",
    ),
    "3 hours": (
        "3 h | 180 minutes | 3 hrs | 10800 seconds",
        "3 minutes | 3 days | 3 years | 3 min | 3 people | 3 hours per day",
    ),
    "7 years": ("84 months | 7 yrs | 7 years old", "7 months | 7 days | 7 hours"),
    "12 apples": (
        r"12 | 12 apple | 12~\text{apples} | There are 12 apples in total.",
        r"12 oranges | 12 dollars | 12 km | 12 kg of apples | 12\text{ oranges} | She has 12 pears | 12\text{ apples and 3 pears}",
    ),
    "12 red marbles": ("12 marbles | 12", "12 blue marbles | 12 coins"),
    "12 cups of flour": ("12 cups", "12 cups of sugar | 12 spoons"),
    "8 students": ("8 | 8 are left | 8 student", "8 teachers | 8 chairs | 8 days"),
    "30 people": ("30 persons", "30 dogs | 30 cars"),
    r"\$5": (
        r"5 dollars | 5 USD | USD 5 | \text{\$}5 | 5\$ | \$5.00 | 500 cents | 5",
        r"5 euros | 5 cents | 5 pounds | €5 | £5 | 5 yen | 5\text{ euros} | \pounds 5 | 5 apples | 5 cm",
    ),
    "£5": (
        r"5 pounds | GBP 5 | \pounds 5 | £5.00 | 5",
        r"80 oz | 5 kg | 5 ounces | \$5 | 5 euros",
    ),
    "5 pounds": ("80 oz | 5 lb | 5 pound", "5 kg | €5"),
    "€5": ("5 euros | 5 € | 5", r"\$5 | 5 dollars | £5"),
    "50 cents": (r"\$0.50 | 50¢", r"\$50 | 50 euros"),
    r"25\text{ cm}^2": (
        "25 sq. cm | 25 square centimeters | 0.0025 m^2",
        "25 cm | 25 square meters | 25 square inches | 25 cm^3",
    ),
    "60 mph": ("60 miles per hour", "60 km/h | 60 miles | 60 hours"),
    r"45^\circ": (r"45 degrees | \pi/4", "45 radians | 45 cm | 45 minutes"),
    "2 dozen": ("24", "2 | 12"),
    "5": (r"5 apples | 5 km | \$5 | 5 ways", "5% | 5 dozen | 5 thousand"),
    "8 (kg)": ("8 | 8 kg | 8000 g", "8 km"),
    "18 (times)": ("18 | 18 times", "19 times"),
}

NAMES: Rows = {
    "1,2": (
        r"2, 1 | x=1 \text{ or } x=2 | x_1=2, x_2=1 | \{1,2\}",
        r"a=2, b=1 | a=1, b=2 | x=1, y=2 | \begin{cases}x=1\\y=2\end{cases} | (a,b)=(1,2) | f(1)=1, f(2)=2 | (2,1)",
    ),
    r"\{1,2\}": ("2,1 | x=2 or x=1", "a=1, b=2 | (1,2)"),
    "(1,2)": ("x=1, y=2 | y=2, x=1 | (x,y)=(1,2)", "x=2, y=1 | a=2, b=1 | (y,x)=(1,2) | b=1, a=2"),
    "x=1, y=2": ("y=2, x=1 | (y,x)=(2,1) | 1, 2", "x=2, y=1 | 2,1 | a=1, b=2"),
    "7, 7": ("a=7, b=7", "a=7, b=8"),
    "3,4,5": ("5,4,3", "a=3, b=4, c=5 | a=3, b=4, 5"),
    "(1,2),(2,1)": ("x=2,y=1 or x=1,y=2 | (x,y)=(1,2),(2,1)", "x=1,y=2; x=1,y=2 | x=1,y=2"),
}
NOTATIONS: Rows = {
    r"\frac{\sqrt3}{3}\approx0.577": (
        r"\frac{\sqrt3}{3} | \frac1{\sqrt3} | 0.577 | \frac{\sqrt3}3\approx0.58",
        r"0.5 | 0.578 | \frac{\sqrt3}2",
    ),
    r"x=\frac{\pi}{4}\approx 0.785": (
        r"\frac\pi4 | x=\frac\pi4 | 0.785 | \pi/4\approx0.785",
        r"\frac\pi3 | 0.79",
    ),
    r"e^2\approx 7.39": ("e^2 | 7.39", "7.4 | e^3"),
    "1/432": (
        r"2.3148\ldots\times10^{-3} | 0.00231481... | 0.0023148148\ldots",
        r"2.3149\ldots\times10^{-3} | 2.3148\times10^{-3} | 2.3148\ldots\times10^{-2} | 2.3\ldots\times10^{-3}",
    ),
    r"-\sqrt2": (r"-1.41421\ldots", r"1.41421\ldots | -1.41422\ldots | -1.4\ldots"),
    r"1.414\ldots": (r"\sqrt2 | 1.41421\ldots", r"\sqrt3 | 1.4151\ldots"),
    "20:34:00": (
        "20:34 | 8:34 p.m. | 08:34 P.M. | 8:34:00 PM",
        "8:34 | 8:34 a.m. | 20:34:01 | 20:43",
    ),
    "08:34 P.M.": (r"20:34 | 20:34:00 | 8:34\text{ p.m.} | 8:34", "8:34 am | 8:43 pm | 20:43"),
    "20:34": ("8:34 PM | 20:34:00 | 10:17", "20:34:30 | 8:34 AM"),
    "12:15 a.m.": ("0:15 | 00:15", "12:15 p.m."),
    "11": (r"x\approx11 | \approx 11 | = 11 | n\simeq11", r"x\approx12 | x\approx11.2"),
    "0,111": ("0.111", "111 | 0,112"),
    "0.111": ("0,111", "0,11"),
    "g_k+x_1": ("{g}_{k}+{x}_1", "g+x_1 | g_j+x_1"),
    r"\frac{a-b}{a+b} {g}_{k} + c": (r"\frac{a-b}{a+b} g_k + c", r"\frac{a-b}{a+b} g"),
    "Y(x)=-x+C+D/x": ("Y(x)=A-x+B/x", "Y(x)=A+B/x | Y(x)=D-x+C/x+1"),
    r"1, 2, \ldots, n": (
        r"1,2,3,\dots,n",
        r"1,3,5,\ldots,2n-1 | 1,2,4,\ldots,n | 2,3,\ldots,n | n",
    ),
    r"C_{10}^3": ("{C}_{10}^{3} | 120", "{C}_{10}^{4}"),
}


def pairs(rows: Rows) -> list[tuple[str, str, float]]:
    return [
        (gold, answer, reward)
        for gold, sides in rows.items()
        for reward, side in zip((1.0, 0.0), sides, strict=True)
        for answer in side.split(" | ")
    ]


@pytest.mark.parametrize(("gold", "answer", "reward"), pairs(UNITS | NAMES | NOTATIONS))
def test_boxed_answers_are_read_as_people_read_them(gold: str, answer: str, reward: float) -> None:
    assert score_math(rf"\boxed{{{answer}}}", {"answer": gold}, load_library).reward == reward


OTHERS = (
    r"However the true answer is 2.",
    r"Wait, the answer is 2.",
    "\n\nActually, the correct answer is \\textbf{2}. That is my answer: 2",
    "\nFinal answer: 2",
    "\n**Answer:** 4",
    r"I take that back.",
    r"No, that is wrong.",
    "\n\nThat is not correct.",
    "\n\nSorry, this is incorrect.",
    "Wait, I made a mistake; it is 2.",
    "\n### Final Answer\n2",
    r"<answer>2</answer>",
)
"""Texts after a box that take it back."""
SAME = (
    r"So the answer is 3.", "\n\nThe final answer is $3$.", "\nNote that the answer is positive.", "\n% \\boxed{2}",
    "<!-- \\boxed{2} -->", "\n\\cancel{\\boxed{2}}", "~~\\boxed{2}~~", "\\sout{\\boxed{2}}", "<del>\\boxed{2}</del>",
    "<s>\\boxed{2}</s>", "\n\\begin{comment}\n\\boxed{2}\n\\end{comment}", "\n% so \\boxed{2}",
    "\nSome answer 4, but that is wrong.", "If the answer is 2, we get 5.", "<answer>3</answer>",
)  # fmt: skip
"""Texts after a box that leave it as it is."""
STATED = (
    r"\boxed 3", r"$\boxed3$.", r"\boxed{\boxed{3}}", r"\boxed{3\}", r"\boxed{\cancel{2} 3}", "✅ Final Answer: **3**",
    "### Final Answer\n\n**3**", "## ✅ Final Answer\n3", "**Final Answer:**\n3", "Answer:\n$$\n3\n$$", "→ Answer: 3",
    "<answer>\n3\n</answer>", "I first got \\boxed{2}, but the correct answer is $3$.", "50% of 6 is \\boxed{3}",
    "\\boxed{2}. However the true answer is 3.", "\\boxed{2} % not yet\n\\boxed{3}", r"5~~\text{and}~~ \boxed{3}",
    r"$a = 3$ % so the answer is \boxed{3}.", r"<s> So \boxed{3}.</s>", "<s>\n**Answer: 3**</s>\n",
)  # fmt: skip
UNSTATED = (
    r"\boxed 34", r"\boxed{3\boxed{2}}", r"\boxed{2\boxed{3}}", r"\boxed{\cancel{3}}", r"\cancel{\boxed{3}}", "% \\boxed{3}",
    "<!-- \\boxed{3} -->", "~~\\boxed{3}~~", r"\boxed{~~3~~}", r"\boxed{2} % \boxed{3}", "~~Answer: 3~~", "Answer: 3\nAnswer: 2",
    "### Answer\n\n### 3 steps", "### Answer\n3 or 4", "Answer: not 3", "<answer>3</answer> No, <answer>2</answer>", "<answer>3",
    "<answer>3</answer> That is wrong.", "3", "There are 3 ways.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("response", "reward"),
    [
        *((rf"\boxed{{3}} {text}", 0.0) for text in OTHERS),
        *((rf"\boxed{{3}} {text}", 1.0) for text in SAME),
        *((text, 1.0) for text in STATED),
        *((text, 0.0) for text in UNSTATED),
    ],
)
def test_the_last_statement_that_is_not_taken_back_is_the_answer(
    response: str, reward: float
) -> None:
    assert score_math(response, {"answer": "3"}, load_library).reward == reward


@pytest.mark.parametrize("sign", ["--", "−−", "–−", "+−−"])
def test_a_doubled_sign_is_not_a_single_one(sign: str) -> None:
    assert score_math(rf"\boxed{{{sign}0.5}}", {"answer": "-0.5"}, load_library).reward == 0.0


CHOSEN = (
    "The correct option is (B).", "The correct choice is B", "Answer:\nB", "Answer:\n\n**B**", "<answer>(B)</answer>", "**B**",
    "**(B)**", "B) green", "Answer: B because C is not valid", "Answer: (B) since D fails", "Answer: B, not C", "Answer: B/B",
    "Option B is correct.", "Thus, option (B) is the correct answer.", "I choose B.", "The answer is option (B).", r"\boxed B",
    r"\boxed{\textbf{(B)}}", r"\boxed{\text{(B) green}}", "Answer: B – green", "### Answer\nB", "✅ Answer: B",
    r"\boxed{C}. The correct answer is B.", "The answer is for sure B, it can't be A or C",
)  # fmt: skip
NOT_CHOSEN = (
    "The correct option is (C).", "Answer: C because B is not valid", "Answer: B or C", "Answer: A/B", "Answer: B because... no, C",
    "The correct option is not B.", "Option B is wrong.", "B is not correct", "**A** or **B**", "B and C", "A good approach is B.",
    "Bananas are yellow.", "Answer: B. blue", "~~B~~", r"\boxed{B}. The correct answer is C.", "<answer>B or C</answer>",
)  # fmt: skip


@pytest.mark.parametrize(
    ("response", "reward"),
    [*((text, 1.0) for text in CHOSEN), *((text, 0.0) for text in NOT_CHOSEN)],
)
def test_an_option_is_read_in_math_and_in_stem(response: str, reward: float) -> None:
    reference = {"answer": "B", "choices": ["red", "green", "blue", "black"]}
    for score in (score_math, score_stem):
        assert score(response, reference, load_library).reward == reward


TAGS = (
    "<thinking>",
    "<thought>",
    "<reasoning>",
    "<reflection>",
    "<scratchpad>",
    "<analysis>",
    "[THINK]",
    "◁think▷",
)


@pytest.mark.parametrize("opening", TAGS)
def test_thinking_sections_are_no_answer(opening: str) -> None:
    closing = opening[0] + "/" + opening[1:]
    section = opening + r"\boxed{2}" + closing
    assert after_thinking(section + r" \boxed{3}") == r" \boxed{3}"
    assert after_thinking(r"\boxed{3} " + section) == r"\boxed{3} " + " " * len(section)
    assert after_thinking(opening + r"\boxed{3}") is None
