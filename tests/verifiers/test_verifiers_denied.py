"""A boxed answer that the surrounding words deny earns nothing; other denials cost nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers.extract import around_last_box, last_boxed
from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math
from prorl_verifiers.notation.latex_text import denied_around
from prorl_verifiers.stem.scorer import score_stem


def rewards(text: str) -> set[float]:
    reference = {"answer": "8"}
    return {
        score_math(text, reference, load_library).reward,
        score_stem(text, reference, load_library).reward,
    }


@pytest.mark.parametrize(
    "text",
    [
        r"The answer is not \boxed{8}.",
        r"\boxed{8} is wrong.",
        r"\[\boxed{8}\] is clearly incorrect",
        r"It is false that the answer is \boxed{8}.",
        r"so $x \neq 9$. It isn't $\boxed{8}$",
        r"$\boxed{8}$ is not the answer.",
        r"\boxed{8}? No.",
        r"x cannot be \boxed{8}",
        r"it is not true that x=\boxed{8}",
        r"Anything but \boxed{8}",
    ],
)
def test_a_denied_box_earns_nothing(text: str) -> None:
    assert rewards(text) == {0.0}


@pytest.mark.parametrize(
    "text",
    [
        r"The answer is not 7 but \boxed{8}.",
        r"It is not hard to see that \boxed{8}.",
        r"7 is wrong. The answer is \boxed{8}.",
        r"\boxed{8} is the answer, not 9.",
        r"Since $x\ne 0$, \[x=\boxed{8}.\]",
        r"That would be false. So x=\boxed{8}",
        r"the claim is false, so we get \boxed{8}",
        r"It is wrong that x=7, so \boxed{8}",
        r"the number of people who do not: \boxed{8}",
        "7 is not the answer\n\n\\boxed{8}\nis wrong in no way",
    ],
)
def test_a_denial_of_something_else_costs_nothing(text: str) -> None:
    assert rewards(text) == {1.0}


def test_no_boxed_text_of_the_real_data_denies_its_box(test_data: Path) -> None:
    found = [text for file in test_data.rglob("*.jsonl.gz") for text in _boxed_texts(file)]
    assert len(found) > 2000
    assert [text for text in found if denied_around(*around_last_box(text))] == []


def _boxed_texts(file: Path) -> Iterator[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if "boxed" in line:
                yield from _texts(json.loads(line))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str() if last_boxed(value) is not None:
            yield value
        case dict():
            for member in value.values():
                yield from _texts(member)
        case list():
            for member in value:
                yield from _texts(member)
        case _:
            return
