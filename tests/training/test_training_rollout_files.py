from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from cluster_runs import recorded_mismatch
from pyarrow import parquet

from prorl_common import UserError
from prorl_common.rollout_files import COLUMNS, read_rollouts, rollout_file, rollout_files, schema
from prorl_datasets import Sample
from prorl_inference import Completion, TransformersGenerator
from prorl_inference.testing import byte_tokenizer
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.policy.update import Policy, UpdateBatch
from prorl_training.run.folder import RunFolder
from prorl_training.run.metrics import task_metrics
from prorl_training.run.rollouts import TOKEN_COLUMNS, write_rollouts
from prorl_training.testing import ByLength
from prorl_training.types import Group, Learned, Trajectory, UpdateStats
from prorl_verifiers import Task, Verdict, VerifierPool, replay_run

NAN = float("nan")


@pytest.fixture
def run(tmp_path: Path, make_config: Callable[..., TrainConfig]) -> RunFolder:
    folder = RunFolder(tmp_path / "one")
    folder.create(make_config())
    return folder


def group(sample_id: str, step: int, *rewards: float | None, **more: Any) -> Group:
    task = Task("math", {"answer": "1"})
    prompt = ({"role": "user", "content": "é?"},)
    about = {"family": "sums", "level": 3}
    sample = Sample(sample_id, "math", prompt, task, "test", "none", metadata=about)
    answers = [
        Trajectory(
            i,
            more.get("completion", Completion("\\boxed{1}", (1, 2), (-0.1, -0.2), "stop")),
            Verdict(r, "scored" if r is not None else "infra_error", "why", "7", "", {"a": 1}, 0.5),
            more.get("shaped", 0.0),
            policies=((0, step - 1),),
        )
        for i, r in enumerate(rewards)
    ]
    return Group(sample, tuple(answers), step)


def read(run: RunFolder, step: int, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_rollouts(rollout_file(run.path, step), **options).to_pylist()
    return rows


def test_rollouts_hold_every_response_and_what_it_was_trained_with(run: RunFolder) -> None:
    sampled = [group("a", 5, 0.0, None, 1.0), group("b", 5, None, None)]
    kept = [group("old", 4, 1.0, 0.0), group("a", 5, 0.0, None, 1.0, shaped=-0.5)]
    advantages = (9.0, -9.0, -1.0, 1.0)  # of the scored ones, in the order of the groups
    before = {1: torch.tensor([-1.0, -2.0]), 3: torch.tensor([-3.0, -4.0])}
    write_rollouts(run, 5, sampled, Learned(kept, advantages, before))
    rows = read(run, 5)
    assert [(r["sample_id"], r["reward"], r["kept"], r["advantage"]) for r in rows] == [
        ("a", 0.0, True, -1.0),
        ("a", None, True, None),
        ("a", 1.0, True, 1.0),
        ("b", None, False, None),
        ("b", None, False, None),
    ]
    assert [r["shaped_reward"] for r in rows] == [-0.5, -0.5, -0.5, 0.0, 0.0]
    assert [r["trainer_logprobs"] for r in rows] == [None, None, [-3.0, -4.0], None, None]
    assert rows[0]["sampler_logprobs"] == pytest.approx([-0.1, -0.2])
    assert (rows[0]["task"], rows[0]["level"], rows[0]["extracted"]) == ("sums", "level 3", "7")
    assert json.loads(rows[0]["prompt"]) == [{"role": "user", "content": "é?"}]
    assert json.loads(rows[0]["metrics"]) == {"a": 1}
    every = read(run, 5, columns=["sample_id", "carried", "advantage", "policy_last"], carried=True)
    assert every[5:] == [
        {"sample_id": "old", "carried": True, "advantage": 9.0, "policy_last": 3},
        {"sample_id": "old", "carried": True, "advantage": -9.0, "policy_last": 3},
    ]


def test_rollout_files_have_one_schema_whatever_is_missing(run: RunFolder) -> None:
    lost = Completion("x", (1, 2), (NAN, NAN), "stop")  # vLLM with a nucleus
    write_rollouts(run, 1, [group("a", 1, None, None, completion=lost)], Learned())
    write_rollouts(run, 2, [group("a", 2, 0.0, 1.0)], Learned(), "texts")
    write_rollouts(run, 3, [], Learned())
    assert list(rollout_files(run.path)) == [1, 2]
    for file in rollout_files(run.path).values():
        assert parquet.read_schema(file).remove_metadata() == schema()
    assert read(run, 1)[0]["sampler_logprobs"] is None and read(run, 1)[0]["token_ids"] == [1, 2]
    assert all(read(run, 2)[0][name] is None for name in TOKEN_COLUMNS)


def test_an_answer_with_half_a_character_is_written(run: RunFolder) -> None:
    one = group("a", 1, 1.0)
    verdict = Verdict(1.0, "scored", "\ud800", "\udfff", "", {"plugin": "\ud800"})
    half = replace(one, trajectories=(replace(one.trajectories[0], verdict=verdict),))
    write_rollouts(run, 1, [half], Learned())
    assert (read(run, 1)[0]["reason"], read(run, 1)[0]["extracted"]) == ("\\ud800", "\\udfff")


def test_a_file_of_the_first_release_is_read_with_nulls_for_what_came_later(run: RunFolder) -> None:
    write_rollouts(run, 1, [group("a", 1, 0.0, 1.0)], Learned())
    file = rollout_file(run.path, 1)
    first = [name for name, column in COLUMNS.items() if column.first]
    old = parquet.read_table(file, columns=first)
    parquet.write_table(old, file)
    assert read_rollouts(file).schema == schema()
    assert read_rollouts(file).select(first).equals(old)
    assert read(run, 1, columns=["advantage", "tokens"]) == [{"advantage": None, "tokens": 2}] * 2
    parquet.write_table(old.drop_columns(["reward"]), file)
    with pytest.raises(UserError, match="is not a rollouts file: it has no column reward"):
        read_rollouts(file)
    with pytest.raises(UserError, match="no column 'advantag' "):
        read_rollouts(file, ["advantag"])


def test_files_of_texts_alone_are_replayed_and_a_run_without_says_so(run: RunFolder) -> None:
    with VerifierPool(1) as pool:
        with pytest.raises(UserError, match="no rollouts to replay"):
            replay_run(run.path, pool)
        kept = [group("old", 0, 1.0)]  # step 0's file would contain it too
        write_rollouts(run, 1, [group("a", 1, 1.0)], Learned(kept, (0.0,)), "texts")
        found = replay_run(run.path, pool)
    assert (found.rows, found.agree) == (1, 1)


@pytest.fixture
def updates() -> list[tuple[UpdateBatch, UpdateStats]]:
    return []


@pytest.fixture
def carrying(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    monkeypatch: pytest.MonkeyPatch,
    updates: list[tuple[UpdateBatch, UpdateStats]],
) -> RunFolder:
    """A run of three steps with late or carried groups, whose updates are recorded."""
    config = make_config(
        steps=3,
        dynamic_sampling={"late": "carry", "oversample": 2},
        rollout={"max_tokens": 24, "prompts": 3},
        loss={"mini_batches": 2},
        warm_start={"examples": 0},
        validation={"every": 0},
    )
    update = Policy.update

    def noted(self: Policy, batch: UpdateBatch, *more: Any) -> UpdateStats:
        updates.append((batch, update(self, batch, *more)))
        return updates[-1][1]

    monkeypatch.setattr(Policy, "update", noted)
    engine = make_engine(config, tmp_path / "run", ByLength())
    generator = TransformersGenerator(
        engine.parts.policy.model, byte_tokenizer(), batch_size=18, batching="refill"
    )
    generator.stop_ids = frozenset(range(0, 260, 13))  # answers of all lengths
    engine.parts = replace(engine.parts, generator=generator)
    engine.collector.generator = generator
    assert engine.run() == 3
    return engine.parts.folder


def test_a_local_runs_files_hold_what_its_updates_used_and_its_mismatch_comes_out_of_them(
    carrying: RunFolder, updates: list[tuple[UpdateBatch, UpdateStats]]
) -> None:
    metrics = carrying.metrics()
    assert any(m["groups_carried_in"] for m in metrics) and any(
        m["groups_late_in"] for m in metrics
    )
    seen: list[tuple[str, int, str]] = []
    spans, compared = set(), 0
    for step, (batch, stats) in enumerate(updates, 1):
        every = read(carrying, step, carried=True)
        trained = [row for row in every if row["trainer_logprobs"] is not None]
        names = ("place", "token_ids", "advantage", "sampler_logprobs", "trainer_logprobs")
        used = [
            [
                index,
                list(response),
                float(batch.advantages[index]),
                torch.tensor(batch.sampler_logprobs[index]).tolist(),
                stats.trainer_logprobs[index].tolist(),
            ]
            for mini_batch in batch.mini_batches
            for group in mini_batch
            for index, response in zip(group.indices, group.responses, strict=True)
        ]
        assert sorted([row[name] for name in names] for row in trained) == sorted(used)
        spans |= {(row["carried"], row["policy_first"] < row["policy_last"]) for row in trained}
        found, line = recorded_mismatch(rollout_file(carrying.path, step)), metrics[step - 1]
        assert (found is None) == ("mismatch_kl" not in line)  # every group was stale
        if found is not None:
            expected = line["mismatch_kl"], line["mismatch_ess"]
            assert found == pytest.approx(expected, rel=1e-3, abs=1e-16)
            compared += 1
        for row in every:
            policies = row["token_policies"]
            ends = [policies[0], policies[-1]]
            assert ends == [row["policy_first"], row["policy_last"]] and policies == sorted(
                policies
            )
            assert len(policies) == row["tokens"]
        ages = [step - 1 - row["policy_first"] for row in every if row["kept"]]
        assert line["staleness_max"] == max(ages)
        assert line["staleness_mean"] == pytest.approx(sum(ages) / len(ages))
        seen += [
            (row["sample_id"], row["sample_index"], row["response"]) for row in read(carrying, step)
        ]
    waited, by_two = zip(*spans, strict=True)
    assert any(waited) and any(by_two) and compared
    assert len(seen) == len(set(seen))  # every response once


def test_a_task_is_measured_over_all_its_responses() -> None:
    other = group("c", 1, 0.0)
    other = replace(other, sample=replace(other.sample, source="hub/set", metadata={}))
    rows = task_metrics([group("a", 1, 1.0, None), group("b", 1, 0.0, 0.5), other])
    assert rows["sums"] == {
        "reward_mean": 0.5,
        "pass_rate": pytest.approx(1 / 3),
        "length_mean": 2.0,
        "tokens": 8,
        "groups": 2,
        "responses": 4,
    }
    assert rows["hub/set"]["responses"] == 1 and list(rows) == ["hub/set", "sums"]
