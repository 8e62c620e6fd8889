from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest

from prorl_common import NullProgress
from prorl_datasets import Recipe
from prorl_datasets.building.builder import build_with
from prorl_datasets.recipe.recipe import parse_recipe
from prorl_verifiers import Task, Verdict, VerifierPool

SMALL = """
name: small
seed: 3
decontamination: {benchmarks: []}
entries:
  - {name: add, domain: math, source: {kind: procedural, family: add, levels: [1]},
     count: {train: 30, validation: 3, test: 3}}
  - {name: last, domain: code, source: {kind: procedural, family: last_element},
     count: {train: 20}, verify_fraction: 0.5}
"""


class FakeScorer:
    """Accept every gold response except those that contain one of ``refused``; count the calls."""

    def __init__(self, refused: tuple[str, ...] = (), status: str = "scored") -> None:
        self.refused, self.status, self.seen = refused, status, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        """Nothing to close."""

    def score(self, items: list[tuple[str, Task]]) -> list[Verdict]:
        self.seen += len(items)
        return [self._verdict(response) for response, _ in items]

    def _verdict(self, response: str) -> Verdict:
        if not any(text in response for text in self.refused):
            return Verdict(1.0, "scored", "right", isolation="fake")
        if self.status == "infra_error":
            return Verdict(None, "infra_error", "the sandbox fell over")
        return Verdict(0.0, "scored", "not what was asked")


@pytest.fixture(scope="session")
def pool() -> Iterator[VerifierPool]:
    """A real pool of one worker, shared by all test files because starting one takes a second or more."""
    with VerifierPool(workers=1) as opened:
        yield opened


@pytest.fixture
def accepting() -> FakeScorer:
    return FakeScorer()


@pytest.fixture
def make_scorer() -> type[FakeScorer]:
    return FakeScorer


@pytest.fixture
def make_recipe(tmp_path: Path) -> Callable[[str], Recipe]:
    """Parse YAML text; file paths are relative to the test's folder."""
    return lambda text: parse_recipe(text, "test recipe", tmp_path)


@pytest.fixture(scope="session")
def small_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of SMALL, built once; copy it before changing anything."""
    out = tmp_path_factory.mktemp("built") / "small"
    recipe = parse_recipe(SMALL, "test recipe", out.parent)
    build_with(FakeScorer(), recipe, out, progress=NullProgress())
    return out


@pytest.fixture
def small(make_recipe: Callable[[str], Recipe]) -> Recipe:
    return make_recipe(SMALL)
