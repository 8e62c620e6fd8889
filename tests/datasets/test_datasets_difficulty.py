from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress
from prorl_datasets import DatasetError, Recipe, load, prompt_key
from prorl_datasets.building.builder import build_with
from prorl_datasets.building.choose import read_pass_rates
from prorl_datasets.card import add_ratings

RECIPE = (
    "name: x\nnear_duplicate: 0\ndecontamination: {benchmarks: []}\n%sentries:\n"
    "  - {name: a, domain: math, source: {kind: procedural, family: add, levels: [2]}, count: {train: 12}}\n"
)


@pytest.fixture
def build(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> Callable[..., Any]:
    """Build RECIPE with a difficulty section; return manifest and samples."""

    def built(name: str, difficulty: str = "") -> Any:
        recipe = make_recipe(RECIPE % difficulty)
        report = build_with(accepting, recipe, tmp_path / name, progress=NullProgress())
        return report.manifest, load(tmp_path / name)

    return built


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_rows_outside_the_band_are_replaced_and_counted_by_reason(
    build: Callable[..., Any], tmp_path: Path
) -> None:
    _, samples = build("all")
    rates: list[dict[str, Any]] = [
        {"id": samples[0].id, "pass_rate": 1.0, "n": 8},
        {"prompt": samples[1].prompt[0]["content"].upper(), "pass_rate": 0.0, "n": 8},
        {"id": samples[2].id, "pass_rate": 0.1, "n": 8},  # both bounds are inclusive
        {"id": samples[3].id, "pass_rate": 0.05, "n": 3},
    ]
    (tmp_path / "rated").mkdir()
    write(tmp_path / "rated" / "pass_rates.jsonl", rates)
    manifest, kept = build("band", "difficulty: {ratings: rated, band: [0.1, 0.9], min_n: 4}\n")
    assert manifest["drops"] == {"too easy": 1, "too hard": 1}
    assert manifest["stages"]["math"]["difficulty"] == 2
    assert len(kept) == 12 and not {samples[0].id, samples[1].id} & {s.id for s in kept}
    assert {samples[2].id, samples[3].id} <= {s.id for s in kept}
    assert "## Difficulty" not in (tmp_path / "all" / "README.md").read_text()
    card = (tmp_path / "band" / "README.md").read_text()
    assert "Pass rates of 1 of 12 rows" in card and "| math | 1 | 0.100 | 0% | 100% | 0% |" in card

    strict = (
        "difficulty: {ratings: rated/pass_rates.jsonl, band: [0.1, 0.9], min_n: 4, unrated: drop}\n"
    )
    manifest, kept = build("strict", strict)
    assert [s.id for s in kept] == [samples[2].id]
    assert manifest["drops"]["rated by too few samples"] == 1 and manifest["drops"]["unrated"] > 8


def test_a_rate_belongs_to_its_prompt_wherever_the_row_is_now(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    key = prompt_key([{"role": "user", "content": "What is 1 + 1?"}])
    rates = [
        {"id": "a-train-000000", "prompt_key": key, "pass_rate": 0.0},
        {"id": "a-train-000001", "pass_rate": 1.0},
        {"prompt": "what  IS 2 + 2?", "pass_rate": 0.5},
    ]
    write(tmp_path / "r.jsonl", rates)
    recipe = make_recipe(
        RECIPE % "difficulty: {ratings: r.jsonl, band: [0.1, 0.9], unrated: drop}\n"
    )
    found = read_pass_rates(recipe)
    assert found is not None
    assert found.reason("b-train-000007", key) == "too hard"
    assert found.reason("a-train-000000", "another prompt") == "unrated"
    assert found.reason("a-train-000001", "another prompt") == "too easy"
    assert found.reason("x", prompt_key([{"content": "What is 2 + 2?"}])) is None


@pytest.mark.slow
def test_changed_ratings_make_another_dataset(build: Callable[..., Any], tmp_path: Path) -> None:
    _, samples = build("all")
    rule = "difficulty: {ratings: r.jsonl, band: [0.5, 1]}\n"
    for rate, stays in ((0.9, True), (0.2, False)):
        write(tmp_path / "r.jsonl", [{"id": samples[0].id, "pass_rate": rate}])
        _, kept = build("same folder", rule)
        assert (samples[0].id in {s.id for s in kept}) is stays


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"id": "a", "pass_rate": 1.5, "n": 2}, "'pass_rate' must be a number from 0 to 1"),
        ({"id": "a", "pass_rate": True, "n": 2}, "'pass_rate' must be a number from 0 to 1"),
        ({"pass_rate": 0.5, "n": 2}, "expected 'id' or 'prompt'"),
        ({"id": "a", "pass_rate": 0.5}, "'n' must be the number of samples"),
    ],
)
def test_a_line_that_is_no_rating_is_named(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, line: dict[str, Any], says: str
) -> None:
    write(tmp_path / "r.jsonl", [line])
    recipe = make_recipe(RECIPE % "difficulty: {ratings: r.jsonl, band: [0, 1], min_n: 2}\n")
    with pytest.raises(DatasetError, match=says) as caught:
        read_pass_rates(recipe)
    assert "r.jsonl:1" in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("{ratings: r.jsonl, band: [0.9, 0.1]}", "the first number must not be larger"),
        ("{ratings: r.jsonl, band: [0.1, 1.1]}", "difficulty.band"),
        ("{ratings: r.jsonl}", "difficulty.band"),
        ("{ratings: r.jsonl, band: [0, 1], unratd: drop}", "did you mean 'unrated'"),
    ],
)
def test_a_recipes_mistakes_in_difficulty_are_named(
    make_recipe: Callable[[str], Recipe], rule: str, says: str
) -> None:
    with pytest.raises(DatasetError, match=says):
        make_recipe(RECIPE % f"difficulty: {rule}\n")


def test_ratings_of_a_built_dataset_replace_those_on_its_card(
    small_dataset: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "small"
    shutil.copytree(small_dataset, folder)
    card = folder / "README.md"
    before = card.read_text()
    add_ratings(folder, {"math": [0.0, 1.0]}, 12, "model one")
    first = card.read_text()
    add_ratings(folder, {"math": [0.5]}, 12, "model two")
    add_ratings(folder, {"math": [0.0, 1.0]}, 12, "model one")
    assert card.read_text() == first and first.startswith(before.rstrip())
    assert "model one" in first and "model two" not in first
    assert load(folder)  # the manifest is still valid
    assert add_ratings(tmp_path, {"math": [0.5]}, 1, "no card here") is None
