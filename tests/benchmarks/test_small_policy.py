from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import small_policy_base as base
import small_policy_boundary as boundary
from small_policy_band import band, parts
from small_policy_chains import CHAINS
from small_policy_study import Arm, Evaluation, Study, interval, read_study, table
from small_policy_tasks import CALCULATOR, FAMILIES, boxed, items

from prorl_datasets import load
from prorl_training.config.loading import load_config
from prorl_verifiers import VerifierPool
from prorl_verifiers.environments.tools import answer_calls, calculator

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "benchmarks" / "studies").glob("*.yaml"))


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(workers=1) as opened:
        yield opened


@pytest.mark.parametrize("task", [*FAMILIES, *CHAINS, *CALCULATOR])
def test_golds_earn_full_marks_and_other_answers_none(pool: VerifierPool, task: str) -> None:
    family = (FAMILIES | CHAINS | CALCULATOR)[task]
    right, wrong = [], []
    for sizes in (*family.levels, *family.ladder):
        stream = items(family, sizes, "test", 5)
        first, second = next(stream), next(stream)
        right += [
            (first.work + boxed(first.answer), first.check),
            (boxed(first.answer), first.check),
            (f"{first.work} {first.work}{boxed(first.answer)}", first.check),
        ]
        wrong += [(boxed(first.answer * 2), first.check), (first.answer, first.check)]
        if first.answer != second.answer:
            wrong += [(boxed(second.answer), first.check)]
    assert [v.reward for v in pool.score(right)] == [1.0] * len(right)
    assert [v.reward for v in pool.score(wrong)] == [0.0] * len(wrong)


@pytest.mark.parametrize(("policy", "count"), [("tasks", 192 + 96), ("calculator", 96 + 16)])
def test_nothing_held_out_is_trained_on(policy: str, count: int) -> None:
    chosen = replace(base.POLICIES[policy], train=200)
    held_out = base.held_out_samples(chosen)
    assert len(held_out) == len({s.id for s in held_out}) == count
    samples = base.training_samples(chosen)
    prompts = {s.prompt[0]["content"] for s in samples}
    assert len(prompts) == len(samples)
    assert not prompts & {s.prompt[0]["content"] for s in held_out}
    ladders = {(s.metadata["family"], s.metadata["level"]) for s in held_out if "ladder" in s.id}
    assert "4x3" in {level for _, level in ladders}
    assert not {(s.metadata["task"], s.metadata["level"]) for s in samples} & ladders


def test_policies_are_small_and_read_the_box_and_what_is_around_a_call_as_one_token() -> None:
    for policy in (base.TASKS, base.CHAINS_BASE, base.CALCULATOR_BASE):
        tokenizer = base.make_tokenizer(policy)
        model = base.make_model(0, len(tokenizer), policy.hidden)
        count = sum(p.numel() for p in model.parameters())
        page = ROOT / "docs" / "evidence" / f"{policy.weights.parent.name}.md"
        assert f"{count:,} parameters" in page.read_text(encoding="utf-8")
        for text in (boxed("12*34"), "12*34".join(base.CALL))[: len(policy.tokens)]:
            ids = tokenizer.encode(text, add_special_tokens=False)
            assert (len(ids), tokenizer.decode(ids, skip_special_tokens=True)) == (7, text)
    assert answer_calls(text, {"calculator": calculator}) == [{"role": "tool", "content": "408"}]


def test_a_split_can_be_restricted_to_a_list_of_items(tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text('["train-word-00002", "train-plate-00007"]')
    policy = replace(base.CHAINS_BASE, train=10, validation=1)
    _, data = base.prepare(tmp_path, policy, str(tmp_path / "few.json"))
    assert {s.id for s in load(data, "train")} == {"train-word-00002", "train-plate-00007"}
    assert len(load(data, "validation")) == 3
    groups = Counter((s.metadata["family"], s.metadata["level"]) for s in load(data, "test"))
    assert len(groups) == 24 and set(groups.values()) == {16}


@pytest.mark.parametrize("path", STUDIES, ids=[path.stem for path in STUDIES])
def test_the_settings_of_every_arm_are_valid_and_differ_only_where_the_arm_says(
    path: Path, tmp_path: Path
) -> None:
    study = read_study(path)
    configs = {
        name: load_config(arm.preset, None, study.overrides(name, 1, tmp_path, tmp_path))
        for name, arm in study.arms.items()
    }
    for name in ("rollout.prompts", "rollout.samples", "data", "model", "steps"):
        assert len({str(attrgetter(name)(config)) for config in configs.values()}) == 1, name


def test_the_table_compares_arms_on_the_same_problems() -> None:
    study = Study(
        seeds=[1, 2],
        settings={},
        arms={"a": Arm(preset="p"), "b": Arm(preset="p")},
        evaluations=[Evaluation(n=8, k=4)],
    )
    rng = random.Random(0)
    low, high = ([_counts(rng, least) for _ in range(2)] for least in (0, 6))
    lines = table(study, {"a": low, "b": high})
    assert [line.split("|")[2].strip() for line in lines[2:]] == ["a", "b", "a", "b"]
    assert lines[3].split("|")[5].startswith(" +") and "[+" in lines[3].split("|")[5]
    agreed, divided = (interval(np.array([[0.1] * 9, [x] * 9])) for x in (0.1, 0.9))
    assert agreed == pytest.approx((0.1, 0.1, 0.1)) and divided[1:] == pytest.approx((0.1, 0.9))


def test_the_boundary_table_says_whether_an_arm_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    study = read_study(ROOT / "benchmarks" / "studies" / "boundary_gate.yaml")
    names = boundary.groups_of(study)
    half = [{"samples": 128, "correct": dict.fromkeys(names, 64)}] * 2
    records = {"v2": [{"evaluations": half}] * 2, "gate": [{"evaluations": half}]}
    monkeypatch.setattr(boundary, "read_records", lambda study: records)
    assert boundary.outside_and_good({"a": 1000, "b": 0, "c": 5}) == (["b"], ["a"])
    moved, unknown = boundary.table(study)[2:]
    assert moved.startswith("| v2 | 2 | 50 [50, 50] | yes | 1 [1, 1] |")
    assert unknown.startswith("| gate | 1 |  |")


def test_a_new_run_of_the_same_program_lies_inside_the_band_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(1000):
        curves = rng.normal(0.5, 0.04, (6, 1)) + rng.normal(0, 0.02, (6, 4))
        low, high = band(curves[:5])
        inside += ((curves[5] >= low) & (curves[5] <= high)).all()
    assert 940 < inside < 1000


def test_a_curve_is_averaged_over_quarters_of_the_budget() -> None:
    curve = [(20, 100, 0.1), (40, 200, 0.3), (60, 300, 0.4), (80, 500, 0.5), (100, 801, 0.7)]
    assert parts(curve, 800).tolist() == pytest.approx([0.1, 0.35, 0.5, 0.7])


def _counts(rng: random.Random, least: int) -> dict[str, tuple[int, int]]:
    """Return 20 problems with 8 samples each; every second problem belongs to a ladder."""
    names = [f"test-{'sum-ladder3x2' if i % 2 else 'sum'}-{i:05d}" for i in range(20)]
    return {name: (8, rng.randint(least, least + 2)) for name in names}
