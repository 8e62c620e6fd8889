from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, UnknownNameError
from prorl_datasets.building.benchmark_guard import Guard, open_guard
from prorl_datasets.building.collect import Job, checked_part
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.maker import RowMaker
from prorl_datasets.text.index import BenchmarkIndex

ITEM = (
    "A baker fills 12 trays with 30 rolls each, sells 285 rolls before noon and gives 15 to the school "
    "next door. How many rolls are left over?"
)
ROWS = {
    "copy": ITEM,
    "variant": ITEM.replace("285", "240").replace("12", "14"),
    "told": (
        "At the school next door arrive 15 rolls, a present of the baker, who had filled 12 trays of "
        "30 rolls and by noon sold 285. What is left of the rolls?"
    ),
    "other": "How many seconds are there in a day of 24 hours?",
}
RECIPE = """
name: bakery
decontamination: {decontamination}
entries:
  - name: rows
    domain: math
    verify_fraction: 0
    count: {{train: all}}
    licence: MIT
    source: {{kind: file, path: rows.jsonl}}
"""


class NoScorer:
    """A fake scorer: these tests have no gold responses to run."""

    def score(self, items: Any) -> list[Any]:
        assert not list(items)
        return []


@pytest.fixture
def fate(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> Callable[[str], tuple[set[str], list[dict[str, Any]], Guard]]:
    """Build with decontamination settings; return rows kept, pairs and the guard."""

    def run(decontamination: str) -> tuple[set[str], list[dict[str, Any]], Guard]:
        recipe = make_recipe(RECIPE.format(decontamination=decontamination))
        guard = Guard(checked={"own": 1}, texts=[("own", "1", ITEM)])
        index, _ = guard.write(tmp_path, recipe.decontamination)
        assert index is not None
        maker = RowMaker(recipe, 0, BenchmarkIndex.load(index))
        raw = [
            [i, f"f:{i}", {"prompt": text, "answer": "1"}] for i, text in enumerate(ROWS.values())
        ]
        candidates = maker.convert("rows", raw)
        part = checked_part(NoScorer(), Job(recipe.entries[0], "", 0, 4, tuple(raw)), candidates)
        names = list(ROWS)
        return {names[row.index] for row in part.rows}, part.pairs, guard

    return run


def test_copies_and_variants_are_dropped_and_every_pair_says_why(fate: Any) -> None:
    kept, pairs, guard = fate("{}")
    assert kept == {"told", "other"}
    assert {(p["row"], p["numbers"], p["view"], p["dropped"]) for p in pairs} == {
        ("rows-0", "same", "exact", True),
        ("rows-1", "other", "exact", True),
    }
    assert {"benchmark", "item", "rule", "score", "shared", "text"} <= set(pairs[0])
    assert guard.as_json(pairs)["rows_like_an_item"] == {"own": 2}
    assert "variants_kept" not in guard.as_json(pairs)


def test_variants_are_kept_on_request_and_listed(fate: Any) -> None:
    kept, pairs, guard = fate("{variants: keep}")
    assert kept == {"variant", "told", "other"}
    assert {(p["row"], p["dropped"]) for p in pairs} == {("rows-0", True), ("rows-1", False)}
    found = guard.as_json(pairs)
    assert (found["rows_like_an_item"], found["variants_kept"]) == ({"own": 1}, {"own": 1})


def test_paraphrases_are_dropped_on_request(fate: Any) -> None:
    kept, pairs, _ = fate("{paraphrases: true}")
    assert kept == {"other"}
    assert [p["rule"] for p in pairs if p["row"] == "rows-2"] == ["paraphrase"]


def test_an_unknown_embedder_is_named_before_work_starts(
    make_recipe: Callable[[str], Recipe],
) -> None:
    recipe = make_recipe(RECIPE.format(decontamination="{benchmarks: [], embedding: minilm}"))
    with pytest.raises(UnknownNameError, match="minilm"):
        open_guard(recipe, None, NullProgress())
