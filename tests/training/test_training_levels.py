from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.rollout.item_records import Ladders, levels_changed
from prorl_training.rollout.prompts import PromptSource
from prorl_training.testing import ByLength, untimed_metrics
from prorl_verifiers import Task


def config_of(**data: Any) -> TrainConfig:
    values = {
        "rollout": {"prompts": 4, "samples": 8},
        "loss": {"mini_batches": 1},
        "data": {"levels": "ladder", "sampling": "posterior", **data},
    }
    return TrainConfig.model_validate(values)


def item(name: str, **metadata: Any) -> Sample:
    prompt = ({"role": "user", "content": "x"},)
    task = Task("math", {"answer": "1"})
    return Sample(name, "math", prompt, task, "made", "none", "train", metadata=metadata)


LADDER = [item(f"{level}{n}", level=level, family="sums") for level in (1, 2, 4) for n in "ab"]


def open_ids(source: PromptSource, config: TrainConfig) -> set[str]:
    return {s.id for s in source.draw(1, config)}


def test_a_level_opens_when_the_one_below_is_passed_and_closes_when_it_is_lost() -> None:
    source = PromptSource([*LADDER, item("plain")], lambda s: [0], None)
    config = config_of()
    assert open_ids(source, config) == {"1a", "1b", "plain"}
    source.records.right[:2] = 4.0
    assert open_ids(source, config) == {"1a", "1b", "2a", "2b", "plain"}
    assert source.levels(config) == (2, 1)
    source.records.right[2:4] = 4.0
    assert source.levels(config) == (3, 0)
    source.records.wrong[:2] = 5.0
    assert source.levels(config) == (1, 2)


def test_closed_levels_take_nothing_from_their_domains_weight() -> None:
    plain = [replace(item(f"code{n}"), domain="code") for n in range(3)]
    source = PromptSource([*LADDER, *plain], lambda s: [0], None)
    config = config_of(sampling="uniform", domain_weights={"math": 2.0, "code": 1.0})
    third = 1 / 3  # share of code's weight by item; 1a and 1b share that of math
    assert source.drawing_weights(config) == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, third, third, third]


@pytest.mark.parametrize("metadata", [{}, {"level": 1}, {"level": "1"}])
def test_a_ladder_without_a_second_level_is_refused(metadata: dict[str, Any]) -> None:
    source = PromptSource([item(n, **metadata) for n in "ab"], lambda s: [0], None)
    with pytest.raises(UserError, match="needs a family with items of at least two levels"):
        source.check(config_of())


def test_levels_of_a_domain_that_is_not_drawn_are_neither_open_nor_closed() -> None:
    code = [replace(item(f"code{n}", level=n, family="sums"), domain="code") for n in range(5)]
    source = PromptSource([*LADDER, *code], lambda s: [0], None)
    assert source.levels(config_of()) == (2, 6)
    assert source.levels(config_of(domain_weights={"math": 1.0})) == (1, 2)
    plain = PromptSource([*code, item("plain")], lambda s: [0], None)
    plain.check(config_of())
    with pytest.raises(UserError, match="no family in the drawn domains has them"):
        plain.check(config_of(domain_weights={"math": 1.0}))


def test_what_is_not_known_any_more_opens_nothing() -> None:
    ladders = Ladders(LADDER)
    faded = np.full(6, 1e-6)
    assert ladders.open_levels(faded, np.zeros(6), open_at=0.05, ahead=0) == [1]


def test_levels_ahead_are_open_beyond_those_that_were_earned() -> None:
    ladders = Ladders(LADDER)
    nothing = np.zeros(6)
    assert ladders.open_levels(nothing, nothing, 0.5, 1) == [2]
    assert ladders.open_levels(nothing, nothing, 0.5, 9) == [3]


def test_families_climb_each_on_its_own() -> None:
    other = [item(f"x{level}", level=level, family="words") for level in (1, 2)]
    ladders = Ladders([*LADDER, *other])
    right = np.array([0.0] * 6 + [3.0, 0.0])
    levels = ladders.open_levels(right, np.zeros(8), 0.5, 0)
    assert levels == [1, 2]
    assert ladders.open_items(levels).tolist() == [True] * 2 + [False] * 4 + [True] * 2


def test_a_change_says_which_levels_and_on_which_pass_rates() -> None:
    source, config = PromptSource(LADDER, lambda s: [0], None), config_of(open_at=0.5)
    before = source.open_levels(config)
    source.records.right[:2] = 4.0
    (opened,) = source.level_changes(before, config)
    assert opened == {
        "ladder": "math/sums",
        "opened": [2],
        "pass_rates": {"1": 0.8889, "2": 0.0, "4": 0.0},
    }
    before = source.open_levels(config)
    source.records.wrong[:2] = 8.0
    (closed,) = changes = source.level_changes(before, config)
    assert closed["closed"] == [2] and "opened" not in closed
    (decision,) = levels_changed(7, changes, 0.5)
    assert (decision.step, decision.kind) == (7, "levels_changed")
    assert decision.reason == "closed: math/sums 2"
    assert levels_changed(8, source.level_changes(source.open_levels(config), config), 0.5) == []


def test_what_is_rated_again_climbs_from_its_lowest_level() -> None:
    source, config = PromptSource(LADDER, lambda s: [0], None), config_of()
    source.records.right[:] = 4.0
    assert source.open_levels(config) == [3]
    source.records.forget()
    assert source.open_levels(config) == [1]
    assert {s.id for s in source.draw(1, config)} == {"1a", "1b"}


def what_it_did(engine: TrainingLoop) -> dict[str, Any]:
    """Return metrics without timings, decisions, and the drawn items of each step."""
    folder = engine.parts.folder
    drawn = [
        read_rollouts(file, ["sample_id", "reward"]).to_pylist()
        for file in rollout_files(folder.path).values()
    ]
    return {"rows": untimed_metrics(folder), "decisions": folder.decisions(), "drawn": drawn}


@pytest.mark.slow
def test_a_run_stopped_between_a_stall_and_its_effect_decides_and_draws_as_the_unbroken_one(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., Any],
    go_on: Callable[..., TrainingLoop],
) -> None:
    actions = ["raise_difficulty", "rerate", "raise_samples", "end"]
    config = make_config(
        steps=17,
        data={"sampling": "posterior", "levels": "ladder", "open_at": 0.5, "half_life": 3.0},
        controller={
            "stall_validations": 1,
            "stall_gain": 1000,
            "degrade_alpha": 1e-30,
            "reset_interval": 0,
            "on_stall": actions,
            "end_gain": 0.01,
        },
        validation={"every": 1, "problems": 4},
        checkpoint={"every": 1, "keep": 99},
    )
    unbroken = make_engine(config, tmp_path / "run", ByLength(3))
    prompts = unbroken.parts.prompts
    levelled = [
        replace(s, metadata={**s.metadata, "level": 1 + number // 16})
        for number, s in enumerate(prompts.samples)
    ]
    own = PromptSource(levelled, prompts.encode, prompts.context)
    unbroken.parts = replace(unbroken.parts, prompts=own)
    unbroken.run()
    whole = what_it_did(unbroken)
    acts = {d["kind"]: d for d in whole["decisions"]}
    assert {"difficulty_raised": 5, "items_rerated": 9, "samples_raised": 13}.items() <= {
        kind: d["step"] for kind, d in acts.items()
    }.items()
    reset = acts["reference_reset"]
    assert reset["step"] == 16 and reset["evidence"]["passed_over"] == ["end"]
    assert reset["evidence"]["forecast"]["says"] == "not known"
    changed = {
        d["step"]: d["evidence"] for d in whole["decisions"] if d["kind"] == "levels_changed"
    }
    assert "opened" in changed[5]["changes"][0]  # by the action, if not by its pass rate
    again = go_on(unbroken, 8)
    assert what_it_did(again) == whole
    before, after = (e.parts.policy.model.state_dict() for e in (unbroken, again))
    assert all(torch.equal(before[name], after[name]) for name in before)
