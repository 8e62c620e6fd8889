from __future__ import annotations

import dataclasses
import itertools
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import NullProgress
from prorl_datasets import Sample
from prorl_evaluation import EvalResult, EvalSettings, EvaluationError, compare, evaluate
from prorl_evaluation.model_table import below, gather_models, model_table, value_table
from prorl_evaluation.stats.distributions import holm
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

SAMPLES = [*make_samples(15), *make_samples(12, "stem")]


def result(
    out: Path,
    percent: int,
    samples: list[Sample] = SAMPLES,
    label: str = "",
    data: str = "",
    **changed: Any,
) -> EvalResult:
    """Write an evaluation of a model with `percent` % right answers."""
    settings = EvalSettings(n=16, k=8, draws=400, label=label or f"m{percent}")
    origin = {"path": f"suite/{data}", "manifest_sha256": data, "split": "test"}
    settings = dataclasses.replace(settings, dataset=origin if data else {}, **changed)
    generator = FakeGenerator(model_digest=f"d{percent}", percent=percent)
    return evaluate(generator, samples, settings, out, FakeScorer(), NullProgress())


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Results of three models: 40 %, 40 % (other weights) and 80 % right."""
    root = tmp_path_factory.mktemp("models")
    for percent in (40, 41, 80):
        result(root / f"m{percent}", percent)
    return [str(root / f"m{percent}") for percent in (40, 41, 80)]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", "table", *arguments])


def test_a_real_gain_is_claimed_and_its_twin_is_not(folders: list[str]) -> None:
    done = call(*folders, "--json")
    assert done.exit_code == 0, done.output
    table = json.loads(done.stdout)
    assert table["labels"] == ["m40", "m41", "m80"] and table["k"] == 8
    assert table["groups"] == [["overall", 27], ["math", 15], ["stem", 12]]
    claims = {(d["model"], d["group"], d["metric"]): d["claim"] for d in table["differences"]}
    assert claims["m80", "overall", "pass@1"] == "higher"
    assert {c for (model, _, _), c in claims.items() if model == "m41"} == {""}
    assert table["tests"] == len(claims) == 12


def test_the_first_one_named_is_the_baseline_and_a_loss_is_claimed(folders: list[str]) -> None:
    table = json.loads(call(folders[2], *folders[:2], "--json").stdout)
    assert table["baseline"] == "m80" and table["labels"] == ["m80", "m40", "m41"]
    assert {d["claim"] for d in table["differences"] if d["metric"] == "pass@1"} == {"lower"}


def test_a_cell_and_a_difference_have_the_intervals_of_compare(folders: list[str]) -> None:
    results, _ = gather_models(folders)
    table = model_table(results)
    before, after = results[0], results[2]
    theirs = compare(before, after).find("math", "pass@8")
    ours = table.difference("m80", "math", "pass@8")
    assert theirs is not None and ours is not None
    assert (ours.population, ours.fixed) == (theirs.interval, theirs.fixed)
    group = after.group("math")
    assert group is not None
    value = table.value("m80", "math", "pass@8")
    assert value.population == group.pass_at_k[8] and value.fixed == group.fixed_pass_at_k[8]


def test_text_and_markdown_have_both_intervals(folders: list[str], tmp_path: Path) -> None:
    text = call(*folders, "--md", str(tmp_path / "table.md")).stdout
    assert "↑" in text and "{" in text and "Holm" in text and "at most 5%" in text
    page = (tmp_path / "table.md").read_text()
    assert page.startswith("### pass@k of 3 models") and "overall (27)" in page
    assert page.count("\n| ---") == 2


def test_only_the_problems_that_all_share_are_compared_and_it_is_said(tmp_path: Path) -> None:
    models = [
        result(tmp_path / "a", 30, make_samples(20)),
        result(tmp_path / "b", 70, make_samples(20, start=6)),
    ]
    table = model_table(models)
    assert table.groups[0] == ("overall", 14)
    assert any("6 of 20 problems are not in all results" in line for line in below(table))
    with pytest.raises(EvaluationError, match="no problem in common"):
        model_table([models[0], result(tmp_path / "c", 20, make_samples(9, "stem"))])


def test_other_sampling_settings_are_refused_by_name(tmp_path: Path) -> None:
    result(tmp_path / "a", 30)
    result(tmp_path / "b", 70, temperature=1.0)
    names = [str(tmp_path / n) for n in "ab"]
    with pytest.raises(EvaluationError, match=r"temperature differs \(0.6: m30; 1: m70\)"):
        gather_models(names)
    results, lines = gather_models(names, any_sampling=True)
    assert len(results) == 2 and lines[0].startswith("temperature differs")


def test_a_suites_folders_become_one_row_a_model_and_one_column_a_benchmark(tmp_path: Path) -> None:
    for percent in (30, 80):
        for domain, count in (("math", 15), ("stem", 12)):
            own = make_samples(count, "math" if domain == "math" else "stem")
            folder = tmp_path / "suites" / f"m{percent}" / f"{domain}-1"
            result(folder, percent, own, data=f"bench_{domain}")
    results, _ = gather_models([str(tmp_path / "suites")])
    assert [r.label for r in results] == ["m30", "m80"]
    table = model_table(results)
    assert [name for name, _ in table.groups] == ["overall", "bench_math", "bench_stem"]
    one, two = (tmp_path / "suites" / m / "math-1" / "result.json" for m in ("m30", "m80"))
    one_dataset = model_table(gather_models([str(one), str(two)])[0])
    assert [name for name, _ in one_dataset.groups] == ["overall"]


def test_one_weight_under_two_labels_is_said_and_one_model_is_no_table(tmp_path: Path) -> None:
    result(tmp_path / "a", 30)
    result(tmp_path / "b", 30, label="other")
    results, _ = gather_models([str(tmp_path / n) for n in "ab"])
    assert any("same weights: m30, other" in line for line in model_table(results).notes)
    with pytest.raises(EvaluationError, match="name results of two or more"):
        gather_models([str(tmp_path / "a")])


def in_one_folder(root: Path, parts: dict[str, list[Sample]]) -> list[str]:
    """Write results of two models on two datasets that were built in the folder ``mine`` in turn."""
    folders = [
        (percent, data, root / f"m{percent}-{data}") for percent in (30, 80) for data in parts
    ]
    for percent, data, folder in folders:
        made = result(folder, percent, parts[data])
        origin = {"path": "data/mine", "manifest_sha256": data, "split": "test"}
        settings = dataclasses.replace(made.settings, dataset=origin)
        dataclasses.replace(made, settings=settings).save(folder)
    return [str(folder) for _, _, folder in folders]


def test_two_results_of_a_model_on_the_same_problems_are_refused(tmp_path: Path) -> None:
    names = in_one_folder(tmp_path, {"old": SAMPLES, "new": SAMPLES[:20]})
    with pytest.raises(EvaluationError, match="m30 has two results on the same problems"):
        gather_models(names)


def test_two_datasets_of_one_folders_name_are_two_columns(tmp_path: Path) -> None:
    parts = {"0123456789": make_samples(12), "abcdefghij": make_samples(11, "stem")}
    results, _ = gather_models(in_one_folder(tmp_path, parts))
    groups = model_table(results).groups
    assert groups == (("overall", 23), ("mine", 12), ("mine-abcdefgh", 11))


def test_every_row_and_column_has_a_name_of_its_own(tmp_path: Path) -> None:
    folders = []
    for place, (percent, label) in enumerate([(30, "m"), (41, "m"), (80, "m (2)")]):
        folder = tmp_path / str(place)
        made = result(folder, percent, label=label)
        problems = [
            dataclasses.replace(p, labels={"benchmark": "overall" if p.domain == "math" else "b"})
            for p in made.problems
        ]
        dataclasses.replace(made, problems=tuple(problems)).save(folder)
        folders.append(str(folder))
    results, _ = gather_models(folders)
    assert [r.label for r in results] == ["m", "m (d41)", "m (2)"]
    table = model_table(results)
    assert [name for name, _ in table.groups] == ["overall", "benchmark overall", "b"]
    assert table.value("m (2)", "overall", "pass@1").population.value > 0.6
    assert table.value("m (d41)", "benchmark overall", "pass@1").population.count == 15


def test_small_groups_are_shown_and_not_tested(tmp_path: Path) -> None:
    own = [*make_samples(12), *make_samples(4, "stem")]
    table = model_table([result(tmp_path / "a", 5, own), result(tmp_path / "b", 95, own)])
    small = table.difference("m95", "stem", "pass@1")
    assert small is not None and math.isnan(small.p) and small.claim(0.05) == ""
    assert table.tests == 4 and "2 differences are not tested: too few problems" in below(table)
    assert len(value_table(table).rows) == 4


def test_holm_is_the_closure_of_bonferroni_on_every_intersection() -> None:
    draw = Random(3)
    for size in range(1, 8):
        values = [draw.random() ** 3 for _ in range(size)]
        corrected = holm(values)
        for i, p in enumerate(corrected):
            closed = 0.0
            for count in range(1, size + 1):
                for subset in itertools.combinations(range(size), count):
                    if i in subset:
                        bonferroni = min(1.0, count * min(values[j] for j in subset))
                        closed = max(closed, bonferroni)
            assert p == pytest.approx(closed, abs=1e-12)
