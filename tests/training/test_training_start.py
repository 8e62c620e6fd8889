from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, UserError
from prorl_inference import BACKENDS
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine.builder import FIRST_LOOK, start_notes
from prorl_training.engine.local import train
from prorl_training.engine.openrlhf.launch.understood import unsupported
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.staleness import lost_logprobs, refuse_lost_logprobs
from prorl_training.testing import named_sample

NUCLEUS = "rollout.top_p=0.9"
ICEPOP = "loss.mismatch.correction=icepop"


def source(lengths: Sequence[int]) -> tuple[PromptSource, list[str]]:
    """Return a source of prompts of these lengths, and the ids of the encoded ones."""
    encoded: list[str] = []

    def encode(sample: Any) -> list[int]:
        encoded.append(sample.id)
        return [0] * lengths[int(sample.id)]

    samples = [named_sample(f"{i}", "logic" if i % 2 else "math") for i in range(len(lengths))]
    return PromptSource(samples, encode, 64), encoded


def config_of(**over: Any) -> TrainConfig:
    toy = {"steps": 2, "rollout": {"prompts": 4, "max_tokens": 14}, "loss": {"mini_batches": 1}}
    return TrainConfig.model_validate(toy | over)


def test_prompts_that_do_not_fit_are_said_at_the_start_with_the_limit() -> None:
    (line,) = start_notes(source([10] * 8 + [60, 51])[0], config_of())
    assert line.startswith("2 of 10 prompts checked have more than the 50 tokens that fit: ")


def test_the_phase_that_most_prompts_do_not_fit_is_named() -> None:
    phases = [
        {"name": "a", "steps": 1},
        {"name": "long", "steps": 1, "set": {"rollout": {"max_tokens": 44}}},
    ]
    (line,) = start_notes(source([10] * 8 + [30, 60])[0], config_of(phases=phases))
    assert line.startswith("2 of 10") and "the 20 tokens that fit in phase long" in line


def test_where_all_prompts_fit_and_last_nothing_is_said() -> None:
    prompts = source([10] * 8)[0]
    assert start_notes(prompts, config_of()) == []
    assert start_notes(prompts, config_of(), has_validation=False)[0].startswith(
        "the dataset has no validation split"
    )


def test_the_first_look_encodes_a_part_of_a_large_dataset_from_all_over_it() -> None:
    prompts, encoded = source([10] * 2000)
    start_notes(prompts, config_of())
    assert 200 < len(encoded) <= FIRST_LOOK
    assert max(map(int, encoded)) > 1900


def test_more_steps_than_data_say_how_long_once_through_takes() -> None:
    said = [start_notes(source([10] * 10)[0], config_of(steps=steps)) for steps in (2, 3)]
    assert said == [[], ["10 prompts, one pass every 2.5 steps"]]
    assert start_notes(source([10] * 3)[0], config_of()) == ["3 prompts, one pass every step"]


def test_prompts_drawn_by_weight_are_said_to_be_and_a_domain_without_weight_does_not_count() -> (
    None
):
    config = config_of(data={"domain_weights": {"math": 1, "logic": 0}})
    (line,) = start_notes(source([10, 60] * 3)[0], config)
    assert line == "3 prompts, drawn by weight, one dataset's worth every step"


@pytest.mark.parametrize(
    ("settings", "cure"),
    [
        ([], r"surplus=carry needs.*set rollout\.top_p=1, or dynamic_sampling\.surplus=drop, or"),
        (["dynamic_sampling.enabled=false", ICEPOP], r"or loss\.mismatch\.correction=none, or"),
        (["loss.on_policy_ratio=true", ICEPOP], r"surplus=drop and loss\.mismatch"),
        (["dynamic_sampling.refill=missing", "dynamic_sampling.oversample=1.5"], "surplus=drop"),
    ],
)
def test_a_nucleus_under_vllm_is_refused_in_one_line_where_its_logprobs_are_needed(
    settings: list[str], cure: str
) -> None:
    with pytest.raises(UserError, match=cure) as caught:
        refuse_lost_logprobs(load_config("cpu", None, [NUCLEUS, *settings]), BACKENDS.get("vllm"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        ["rollout.top_p=1"],
        ["dynamic_sampling.surplus=drop"],
        ["dynamic_sampling.enabled=false"],
        ["dynamic_sampling.refill=missing", "dynamic_sampling.oversample=1"],  # never a surplus
        ["loss.on_policy_ratio=true"],
    ],
)
def test_a_nucleus_whose_logprobs_nobody_reads_is_taken(settings: list[str]) -> None:
    assert lost_logprobs(load_config("cpu", None, [NUCLEUS, *settings])) is None


def test_a_nucleus_in_a_later_phase_is_refused_by_its_name() -> None:
    with pytest.raises(UserError, match=r"^phase run-3: rollout\.top_p=0\.9 with vLLM"):
        refuse_lost_logprobs(
            load_config("prorl-v1", None, [f"phases.run-3.set.{NUCLEUS}"]), BACKENDS.get("vllm")
        )


def test_local_runs_refuse_it_before_their_folder_is_made_and_only_with_vllm(
    tmp_path: Path,
) -> None:
    over = [NUCLEUS, "model.device=cpu", f"data.path={tmp_path / 'none'}"]
    with pytest.raises(UserError, match="with vLLM as sampler"):
        config = load_config("cpu", None, [*over, "rollout.backend=vllm"])
        train(config, tmp_path / "run", NullProgress())
    with pytest.raises(UserError) as caught:
        train(load_config("cpu", None, over), tmp_path / "run", NullProgress())
    assert "vLLM" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_the_cluster_engine_refuses_it_too_and_holds_no_ratio_at_one() -> None:
    base = ["engine=openrlhf", NUCLEUS, "loss.mini_batches=1", "loss.mismatch.correction=none"]
    for settings in ([], ["loss.on_policy_ratio=true"]):
        (line,) = unsupported(load_config("prorl-v2", None, [*base, *settings]))
        assert line.startswith("rollout.top_p=0.9 with vLLM as sampler")
    thrown = ["dynamic_sampling.surplus=drop", "dynamic_sampling.late=cancel"]
    assert unsupported(load_config("prorl-v2", None, [*base, *thrown])) == []
