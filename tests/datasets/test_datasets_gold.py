"""The gold check with the real verifiers: every family's gold response gets full marks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from prorl_common import NullProgress, read_jsonl
from prorl_datasets import BuildOptions, Recipe, build, load, verify_dataset
from prorl_datasets.gold import check_gold
from prorl_datasets.procedural import families
from prorl_sandbox import probe
from prorl_verifiers import Task, VerifierPool, load_task

needs_isolation = pytest.mark.skipif(
    not probe().strong,
    reason="this machine cannot isolate untrusted code",
)


def _gold_items(domains: tuple[str, ...], seeds: int) -> list[tuple[str, str, Task]]:
    return [
        (f"{family.name} level {level} seed {seed}", item.gold, item.task)
        for family in families().values()
        if family.domain in domains
        for level in (1, 2, 3)
        for seed in range(seeds)
        for item in [family.generate(Random(1000 * level + seed), level)]
    ]


def _refused(items: list[tuple[str, str, Task]]) -> list[tuple[str, str]]:
    with VerifierPool(workers=2) as pool:
        results = check_gold(pool, [(gold, task) for _, gold, task in items])
    return [
        (name, result.detail)
        for (name, _, _), result in zip(items, results, strict=True)
        if not result.accepted
    ]


def test_gold_of_every_text_family_is_accepted() -> None:
    assert _refused(_gold_items(("math", "stem", "instruction"), seeds=4)) == []


@needs_isolation
def test_gold_of_every_code_family_is_accepted() -> None:
    items = _gold_items(("code",), seeds=1)
    one_level_each = [items[3 * i + i % 3] for i in range(len(items) // 3)]  # five boxes an item
    assert _refused(one_level_each) == []


def test_every_familys_task_is_well_formed_for_its_verifier() -> None:
    for name, _, task in _gold_items(("math", "code", "stem", "instruction"), seeds=1):
        assert load_task(task.verifier, json.loads(task.reference_json())) == task, name


def test_another_items_gold_is_refused() -> None:
    with VerifierPool(workers=1) as pool:
        for name in ("add", "speed", "quotation"):
            family = families()[name]
            item = family.generate(Random(1), 1)
            (result,) = check_gold(pool, [("\\boxed{123456}", item.task)])
            assert not result.accepted
            assert result.reason


def test_worker_count_changes_no_byte(make_recipe: Callable[[str], Recipe], tmp_path: Path) -> None:
    recipe = make_recipe(
        "name: x\nentries:\n"
        "  - {name: a, domain: math, source: {kind: procedural, family: add}, count: {train: 40}}\n"
        "  - {name: b, domain: stem, source: {kind: procedural, family: planet}, count: {train: 40}}\n"
        "  - {name: c, domain: logic, source: {kind: reasoning_gym, task: gcd}, count: {train: 20}}\n"
    )
    for workers in (1, 3):
        options = BuildOptions(workers=workers)
        build(recipe, tmp_path / str(workers), progress=NullProgress(), options=options)
    one, three = (
        {file.name: file.read_bytes() for file in (tmp_path / name).glob("*.parquet")}
        for name in "13"
    )
    assert one == three
    assert {s.gold_check for s in load(tmp_path / "1")} == {"verified"}
    assert verify_dataset(tmp_path / "1", progress=NullProgress()).ok


@needs_isolation
def test_isolation_level_of_the_gold_check_is_in_the_manifest(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    recipe = make_recipe(
        "name: x\nentries:\n  - {name: a, domain: code, source: {kind: procedural, family: add_two},"
        " count: {train: 2}}\n"
    )
    report = build(recipe, tmp_path / "d", progress=NullProgress())
    assert report.manifest["isolation"]
    assert report.manifest["gold_check"] == {"verified": 2}


def test_real_math_and_instruction_rows_become_tasks(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, test_data: Path
) -> None:
    plain = [  # language detection is an optional package
        json.dumps(row)
        for _, row in read_jsonl(test_data / "if" / "ifeval_input_data.jsonl.gz")
        if not any(i.startswith("language:") for i in row["instruction_id_list"])
    ]
    (tmp_path / "ifeval.jsonl").write_text("\n".join(plain))
    recipe = make_recipe(
        "name: x\nentries:\n"
        "  - {name: math500, domain: math, source: {kind: file, columns: {prompt: problem},\n"
        f"     path: {test_data}/math/math500.jsonl.gz}}, count: {{test: 60}}}}\n"
        "  - {name: ifeval, domain: instruction, source: {kind: file, path: ifeval.jsonl},\n"
        "     count: {train: all}}\n"
    )
    report = build(recipe, tmp_path / "d", progress=NullProgress())
    samples = load(tmp_path / "d")
    assert {s.gold_check for s in samples if s.domain == "math"} == {"verified"}
    assert {s.gold_check for s in samples if s.domain == "instruction"} == {"none"}
    assert report.manifest["counts"]["test"] == {"math": 60}
    assert report.manifest["counts"]["train"]["instruction"] > 450
