"""The figures of the code stay at or below their limits in figures.json, which only go down."""

from __future__ import annotations

import figures
import pytest

CURE = "make structure shows all figures; --list names what one counts. Write less, or say in the commit why not."


def test_every_figure_has_a_limit_and_every_limit_a_figure() -> None:
    assert figures.limits()["figures"].keys() == (figures.FIGURES | figures.SLOW).keys()


@pytest.mark.parametrize("name", figures.FIGURES)
def test_figure_is_not_above_its_limit(name: str) -> None:
    assert figures.measure(name) <= figures.limits()["figures"][name]["limit"], CURE


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.SLOW)
def test_slow_figure_is_not_above_its_limit(name: str) -> None:
    assert figures.measure(name) <= figures.limits()["figures"][name]["limit"], CURE
