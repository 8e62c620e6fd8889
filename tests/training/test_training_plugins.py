from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common import PluginError, use_plugins
from prorl_verifiers import Task, Verdict

PARTS = """
from prorl_training import AdvantageSpec, KLSpec, PenaltySpec, PolicyLossSpec

LOSS = PolicyLossSpec("run_loss", lambda new, old, adv, lengths, config: -(new - old).exp() * adv)
BEST = AdvantageSpec("run_below_one", lambda rewards, groups, lengths, config: rewards - 1)
KL = KLSpec("run_absolute", lambda d, config: d.abs())
PENALTY = PenaltySpec("run_price", lambda r, o: -o["price"] * r.tokens, options={"price": 0.01})
DETACHED = PolicyLossSpec("run_detached", lambda new, *rest: (new * 2).detach())
WHOLE = PolicyLossSpec("run_whole", lambda new, *rest: (new * 0).long())
CONSTANT = KLSpec("run_constant", lambda d, config: d.detach() * 0 + 1)
HOLE = AdvantageSpec("run_hole", lambda rewards, *rest: rewards / 0)
BROKEN = PolicyLossSpec("run_broken", lambda new, *rest: new * float("nan"))
"""


class EverySecond:
    """A fake verifier that accepts every second answer, so that each group has variance."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        return [Verdict(float(at % 2), "scored", "by turns") for at in range(len(items))]


def load(folder: Path) -> None:
    file = folder / "run_parts.py"
    file.write_text(PARTS)
    use_plugins([file])


def test_every_objective_door_is_used_by_a_run(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    load(tmp_path)
    config = make_config(
        loss={"name": "run_loss"},
        advantage={"estimator": "run_below_one"},
        kl={"estimator": "run_absolute", "coefficient": 0.01},
        penalties={"run_price": {"price": 0.02}},
    )
    engine = make_engine(config, tmp_path / "run", EverySecond())
    assert engine.run() == 4
    rows = engine.parts.folder.metrics()
    trained = [row for row in rows if row.get("policy_loss") is not None]
    assert trained
    assert all(row["policy_loss"] > 0 for row in trained)  # no advantage is above 0
    assert rows[0]["shaped_reward_mean"] < rows[0]["reward_mean"]


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"loss": {"name": "run_detached"}}, "policy loss 'run_detached'"),
        ({"loss": {"name": "run_whole"}}, "policy loss 'run_whole'"),
        ({"kl": {"estimator": "run_constant", "coefficient": 0.1}}, "kl 'run_constant'"),
        ({"advantage": {"estimator": "run_hole"}}, "advantage 'run_hole'"),
    ],
)
def test_a_part_from_which_nothing_is_learned_ends_the_run_with_its_name_and_file(
    make_engine: Callable[..., Any],
    make_config: Callable[..., Any],
    tmp_path: Path,
    settings: dict[str, Any],
    part: str,
) -> None:
    load(tmp_path)
    with pytest.raises(PluginError, match=re.escape(f"the {part} (run_parts.py)")):
        make_engine(make_config(**settings), tmp_path / "run", EverySecond()).run()


def test_a_loss_that_is_not_finite_never_reaches_the_weights(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    load(tmp_path)
    config = make_config(loss={"name": "run_broken"})
    engine = make_engine(config, tmp_path / "run", EverySecond())
    before = {k: v.clone() for k, v in engine.parts.policy.model.state_dict().items()}
    engine.run()
    assert all(row["updates_skipped"] for row in engine.parts.folder.metrics())
    after = engine.parts.policy.model.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)
