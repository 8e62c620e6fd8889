from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import NullProgress, UserError
from prorl_datasets import DatasetError, Recipe, load, load_recipe
from prorl_datasets.recipe.ladder import ladder, rungs_taken
from prorl_datasets.recipe.recipe import parse_recipe
from prorl_datasets.sources.rg_entries import curriculum, mistakes

MIXED = (
    "name: mixed\nprompts: {stem: 'Q: {question}'}\nentries:\n"
    "  - {name: p, domain: math, source: {kind: procedural, family: add, levels: [2, 3]}, count: {train: 9}, weight: 2}\n"
    "  - {name: g, domain: logic, source: {kind: reasoning_gym, task: gcd, config: {max_value: 77}}, count: {train: 9}}\n"
    "  - {name: f, domain: math, source: {kind: file, path: rows.jsonl}, count: {train: all}}\n"
)


def test_every_size_is_an_entry_and_the_rest_stays_as_it_was(
    make_recipe: Callable[[str], Recipe],
) -> None:
    made = ladder(make_recipe(MIXED), 5, "test", [], NullProgress())
    entries = {entry["name"]: entry for entry in made["entries"]}
    assert list(entries)[:4] == ["p.l1", "p.l2", "p.l3", "g.now"]
    assert not any(name.startswith("f") for name in entries)
    assert entries["p.l3"]["source"]["levels"] == [3] and entries["p.l3"]["weight"] == 2
    assert entries["g.now"]["source"]["config"] == {"max_value": 77}
    steps = [e["source"]["config"] for name, e in entries.items() if name.startswith("g.l")]
    assert len(steps) >= 3 and len({str(step) for step in steps}) == len(steps)
    assert all(entry["count"] == {"test": 5} for entry in entries.values())
    assert parse_recipe(str(made), "ladder", None).prompts == {"stem": "Q: {question}"}


def test_only_names_entries_and_a_wrong_one_offers_the_nearest(
    make_recipe: Callable[[str], Recipe],
) -> None:
    recipe = load_recipe("prorl-136k-procedural")
    made = ladder(recipe, 1, "train", ["logic-gcd"], NullProgress())
    assert {entry["source"]["task"] for entry in made["entries"]} == {"gcd"}
    with pytest.raises(DatasetError, match="did you mean 'logic-gcd'"):
        ladder(recipe, 1, "train", ["logic-gcf"], NullProgress())
    files = make_recipe(
        "name: f\nentries:\n  - {name: f, domain: math, source: {kind: file, path: x.jsonl}, count: {train: all}}\n"
    )
    with pytest.raises(DatasetError, match="no generated entries"):
        ladder(files, 1, "train", [], NullProgress())


def test_the_sizes_taken_of_a_built_ladder_are_a_recipe_that_loads(
    make_recipe: Callable[[str], Recipe],
) -> None:
    made = ladder(make_recipe(MIXED), 5, "test", [], NullProgress())
    built = parse_recipe(str(made), "ladder", None)
    manifest = {"resolved_recipe": built.model_dump(mode="json", exclude={"plugins"})}
    tuned = rungs_taken(manifest, {"p.l3", "g.l0"}, {"train": 7})
    loaded = parse_recipe(str(tuned), "tuned", None)
    assert [(e.name, e.count.train) for e in loaded.entries] == [("p.l3", 7), ("g.l0", 7)]
    assert loaded.prompts == {"stem": "Q: {question}"} and loaded.name == "mixed-ladder-tuned"
    with pytest.raises(DatasetError, match="no size of mixed-ladder is in the band"):
        rungs_taken(manifest, set(), {"train": 7})


@pytest.mark.parametrize("task", ["gcd", "pool_matrix", "knight_swap", "caesar_cipher"])
def test_levels_of_a_curriculum_are_configurations_that_the_task_takes(task: str) -> None:
    found = curriculum(task)
    assert found and not any(mistakes(task, config) for config in found.values())


def test_a_task_without_a_curriculum_has_no_levels() -> None:
    assert curriculum("list_functions") == {}


@pytest.mark.slow
def test_a_ladder_from_the_command_line_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = build_app()
    call = ["data", "ladder", "quickstart", "--out", "l.yaml", "--items", "2", "--split", "test"]
    done = CliRunner().invoke(app, [*call, "--only", "math-largest"])
    assert done.exit_code == 0, done.output
    assert "3 entries of 2 rows" in done.stderr
    done = CliRunner().invoke(app, ["data", "build", "--recipe", "l.yaml", "--out", "l"])
    assert done.exit_code == 0, done.output
    levels = Counter(sample.metadata["level"] for sample in load(tmp_path / "l", "test"))
    assert levels == {1: 2, 2: 2, 3: 2}
    wrong = CliRunner().invoke(app, [*call[:-1], "tst"])
    assert isinstance(wrong.exception, UserError) and "'test'" in str(wrong.exception)
