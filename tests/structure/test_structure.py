"""Arrows between rooms point one way, and the figures of the code stay at or below their limits in figures.json."""

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


MAY_IMPORT: dict[str, set[str]] = {
    "prorl_common": set(),
    "prorl_sandbox": set(),
    "prorl_verifiers": {"prorl_sandbox"},
    "prorl_datasets": {"prorl_verifiers", "prorl_sandbox"},
    "prorl_inference": set(),
    "prorl_training": {"prorl_inference", "prorl_datasets", "prorl_verifiers"},
    "prorl_evaluation": {"prorl_inference", "prorl_datasets", "prorl_verifiers"},
    "prorl_viewer": {
        "prorl_training",
        "prorl_evaluation",
        "prorl_datasets",
        "prorl_inference",
        "prorl_verifiers",
    },
}
"""docs/architecture.md draws this; all may import prorl_common, and prorl and prorl_cli everything."""


def test_rooms_import_only_what_the_map_allows() -> None:
    wrong = [
        f"{name} imports {target}"
        for name, targets in figures.imports().items()
        for target in targets
        if (room := name.split(".")[0]) in MAY_IMPORT
        and target.split(".")[0] not in {room, "prorl_common", *MAY_IMPORT[room]}
    ]
    assert wrong == []
