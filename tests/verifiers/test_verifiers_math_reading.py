"""How the math verifier reads answers: right and wrong members of each class, by gold."""

from __future__ import annotations

import pytest

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math

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


def pairs(rows: Rows) -> list[tuple[str, str, float]]:
    return [
        (gold, answer, reward)
        for gold, sides in rows.items()
        for reward, side in zip((1.0, 0.0), sides, strict=True)
        for answer in side.split(" | ")
    ]


@pytest.mark.parametrize(("gold", "answer", "reward"), pairs(UNITS))
def test_boxed_answers_are_read_as_people_read_them(gold: str, answer: str, reward: float) -> None:
    assert score_math(rf"\boxed{{{answer}}}", {"answer": gold}, load_library).reward == reward
