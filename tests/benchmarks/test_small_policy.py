from __future__ import annotations

import random
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import small_policy_base as base
from small_policy_study import Arm, Evaluation, Study, interval, read_study, table
from small_policy_tasks import FAMILIES, boxed, items

from prorl_common import UserError
from prorl_datasets import load
from prorl_training.config.loading import load_config
from prorl_verifiers import VerifierPool

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "benchmarks" / "studies").glob("*.yaml"))


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    """The real verifiers with one worker."""
    with VerifierPool(workers=1) as opened:
        yield opened


@pytest.mark.parametrize("task", FAMILIES)
def test_golds_earn_full_marks_and_other_answers_none(pool: VerifierPool, task: str) -> None:
    family = FAMILIES[task]
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


def test_nothing_held_out_is_trained_on() -> None:
    held_out = base.held_out_samples()
    assert len(held_out) == len({s.id for s in held_out}) == 192 + 96
    samples = base.training_samples(200, 16)
    prompts = {s.prompt[0]["content"] for s in samples}
    assert len(prompts) == len(samples)
    assert not prompts & {s.prompt[0]["content"] for s in held_out}
    ladders = {(s.metadata["family"], s.metadata["level"]) for s in held_out if "ladder" in s.id}
    assert ("sum", "4x3") in ladders
    assert not {(s.metadata["task"], s.metadata["level"]) for s in samples} & ladders


def test_the_policy_is_small_and_reads_the_box_as_one_token() -> None:
    tokenizer = base.make_tokenizer()
    model = base.make_model(0, len(tokenizer))
    count = sum(p.numel() for p in model.parameters())
    page = ROOT / "docs" / "evidence" / "three-thousand-steps.md"
    assert f"{count:,} parameters" in page.read_text(encoding="utf-8")
    ids = tokenizer.encode(boxed("42"), add_special_tokens=False)
    assert len(ids) == 4
    assert tokenizer.decode(ids, skip_special_tokens=True) == boxed("42")


def test_the_dataset_folder_is_read_back(tmp_path: Path) -> None:
    samples = base.held_out_samples()
    base.write_dataset(tmp_path / "data", samples)
    assert [s.prompt for s in load(tmp_path / "data", "test")] == [s.prompt for s in samples]


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


def test_a_study_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("seeds: [1]\nsettings: {}\narms: {a: {preset: x, sets: {}}}\n")
    with pytest.raises(UserError, match="sets"):
        read_study(path)


def test_the_table_compares_arms_on_the_same_problems() -> None:
    study = Study(
        seeds=[1, 2],
        settings={},
        arms={"a": Arm(preset="p"), "b": Arm(preset="p")},
        evaluation=Evaluation(n=8, k=4),
    )
    rng = random.Random(0)
    low, high = ([_counts(rng, least) for _ in range(2)] for least in (0, 6))
    lines = table(study, {"a": low, "b": high})
    assert [line.split("|")[2].strip() for line in lines[2:]] == ["a", "b", "a", "b"]
    change = lines[3].split("|")[5]
    assert change.strip().startswith("+") and "[+" in change
    agreed, divided = (interval(np.array([[0.1] * 9, [x] * 9])) for x in (0.1, 0.9))
    assert agreed == pytest.approx((0.1, 0.1, 0.1)) and divided[1:] == pytest.approx((0.1, 0.9))


def _counts(rng: random.Random, least: int) -> dict[str, tuple[int, int]]:
    """Return 20 problems with 8 samples each; every second problem belongs to a ladder."""
    names = [f"test-{'sum-ladder3x2' if i % 2 else 'sum'}-{i:05d}" for i in range(20)]
    return {name: (8, rng.randint(least, least + 2)) for name in names}
