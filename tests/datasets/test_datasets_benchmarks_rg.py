from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from typing import Any

import pytest

from prorl_datasets.benchmarks import load_spec
from prorl_datasets.benchmarks.catalogue import BenchmarkItem, BenchmarkSpec
from prorl_datasets.benchmarks.loading import generated_items
from prorl_datasets.rows.client import RowClient
from prorl_datasets.sources.rg_entries import reply
from prorl_verifiers import VerifierPool, load_task

FEW = (
    "ab", "basic_arithmetic", "countdown", "family_relationships", "graph_color", "knights_knaves",
    "mini_sudoku", "needle_haystack", "shortest_path", "string_splitting", "tower_of_hanoi",
    "word_sorting",
)  # fmt: skip
"""Tasks of the big benchmark used by fast tests; the slow test generates all 96."""
FEW_PINNED = "314c2121124c169d4d045d68578d7293105d5de2f89399195b4bda227948cf12"
PINNED = {
    "reasoning_gym": "465a41e9eab5b53d845a0273e486d74a60553183e7d2fb10b99d30d79149ca3a",
    "rg_acre": "c1306ccc617f5fc65c7ae1f89baefccbac5f1218bd21b36ae18d9ad23c92814f",
    "rg_boxnet": "decdba2412f3931a83a94151a89fb0a6c3c9b7715136fb64a9cfcc7445a1672a",
    "rg_game_of_life_halting": "464b18bdb7f6823532d667daa4615d8ca4584ed6a9ac9e6e7c37c0c1328fea64",
    "rg_graph_color": "1c5c3cffc514d099a0d8b4e614fe84d4348a7d51f6b3ce80e610378cb7aef294",
}
"""SHA-256 over the first item of each task and rung: id, question and the stored answer."""


@pytest.fixture(scope="module")
def items() -> Iterator[dict[str, list[BenchmarkItem]]]:
    worker = RowClient()
    yield {name: _made(load_spec(name), worker) for name in PINNED if name != "reasoning_gym"} | {
        "reasoning_gym": _made(_few(load_spec("reasoning_gym")), worker)
    }
    worker.close()


def _few(spec: BenchmarkSpec) -> BenchmarkSpec:
    assert spec.generated is not None
    configs = {task: c for task, c in spec.generated.configs.items() if task in FEW}
    few = spec.generated.model_copy(update={"tasks": list(FEW), "configs": configs})
    return spec.model_copy(update={"generated": few})


def _made(spec: BenchmarkSpec, worker: RowClient) -> list[BenchmarkItem]:
    made = list(generated_items(spec, 1, worker))
    found = [item for item in made if isinstance(item, BenchmarkItem)]
    assert len(found) == len(made)
    return found


def _digest(items: list[BenchmarkItem]) -> str:
    texts = "\x00".join(
        f"{i.key}\x1f{i.question}\x1f{i.reference['entry']['answer']}" for i in items
    )
    return hashlib.sha256(texts.encode()).hexdigest()


@pytest.mark.parametrize("name", PINNED)
def test_the_first_items_are_the_pinned_ones(
    items: dict[str, list[BenchmarkItem]], name: str
) -> None:
    pinned = FEW_PINNED if name == "reasoning_gym" else PINNED[name]
    assert _digest(items[name]) == pinned, CHANGED.format(name)


CHANGED = (
    "{} changed: another reasoning-gym version, or other seeds or sizes; scores of it cannot be "
    "compared with earlier ones"
)


@pytest.mark.slow
def test_the_first_items_of_all_96_tasks_are_the_pinned_ones_and_all_golds_score_1(
    items: dict[str, list[BenchmarkItem]], pool: VerifierPool
) -> None:
    worker = RowClient()
    made = _made(load_spec("reasoning_gym"), worker)
    worker.close()
    assert len(made) == 96
    assert _digest(made) == PINNED["reasoning_gym"], CHANGED.format("reasoning_gym")
    held_out = [i for name, group in items.items() if name != "reasoning_gym" for i in group]
    _assert_golds_score_1(made + held_out, pool)


def test_every_task_asked_for_gives_an_item(items: dict[str, list[BenchmarkItem]]) -> None:
    assert sum(map(len, items.values())) == len(FEW) + 3 + 16
    assert all(item.gold for group in items.values() for item in group)


def _assert_golds_score_1(made: list[BenchmarkItem], pool: VerifierPool) -> None:
    pairs = [(str(i.gold), load_task("logic", i.reference)) for i in made]
    wrong = [i.key for i, v in zip(made, pool.score(pairs), strict=True) if v.reward != 1.0]
    assert wrong == []


def test_the_ladder_has_the_graph_sizes_it_says(items: dict[str, list[BenchmarkItem]]) -> None:
    sizes = [
        len(i.reference["entry"]["metadata"]["puzzle"]["vertices"]) for i in items["rg_graph_color"]
    ]
    assert sizes == list(range(5, 21)) == [i.metadata["rung"] for i in items["rg_graph_color"]]


def test_graph_color_of_the_main_benchmark_has_10_vertices(
    items: dict[str, list[BenchmarkItem]],
) -> None:
    (item,) = [i for i in items["reasoning_gym"] if i.metadata["family"] == "graph_color"]
    assert len(item.reference["entry"]["metadata"]["puzzle"]["vertices"]) == 10


@pytest.mark.parametrize("task", ["codeio", "list_functions", "gsm_symbolic", "modulo_grid"])
def test_an_entry_does_not_depend_on_the_entries_before_it(task: str) -> None:
    forwards, backwards = [], []
    made: dict[str, Any] = {}
    for seed in range(12):
        forwards.append(reply(made, task, {}, seed))
    made = {}
    for seed in reversed(range(12)):
        random.seed(seed + 99)  # the state that other code left in the global generator
        backwards.append(reply(made, task, {}, seed))
    assert forwards == backwards[::-1]
    assert len({str(found) for found in forwards}) > 1
