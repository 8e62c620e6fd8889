from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.simulate import simulate
from prorl_training.types import Decision, ValidationResult

QUIET: dict[str, Any] = {
    "reset_interval": 0,
    "kl_zscore": 0,
    "stall_validations": 0,
    "cool_down": 0,
}


def config(penalty: dict[str, Any] | None = None, **controller: Any) -> TrainConfig:
    """Return a config whose controller does nothing but the requested actions."""
    return TrainConfig.model_validate(
        {"controller": QUIET | controller, "length_penalty": penalty or {"weight": 0}}
    )


def validated(mean: float) -> Measured:
    """Return a validation on 50 problems with equal rewards; its smallest paired error is at most 0.008."""
    return Measured(None, None, ValidationResult(mean, 0.02, (mean,) * 50))


def feed(controller: Controller, means: list[float], first: int = 1) -> list[Decision]:
    return [d for i, m in enumerate(means) for d in controller.end_step(first + i, validated(m))]


def rules(decisions: list[Decision]) -> list[tuple[int, str]]:
    return [(d.step, d.evidence["rule"]) for d in decisions if d.kind == "reference_reset"]


def test_penalty_window_is_on_for_its_steps_and_off_for_the_rest() -> None:
    controller = Controller(config({"steps_on": 2, "steps_off": 3, "start_step": 4}))
    assert [s for s in range(1, 15) if controller.penalty_is_on(s)] == [4, 5, 9, 10, 14]


def test_each_window_is_announced_when_it_opens_and_when_it_closes() -> None:
    got = simulate(config({"steps_on": 2, "steps_off": 3, "start_step": 4}), 10)
    opened, closed = "penalty_window_opened", "penalty_window_closed"
    assert [(d.step, d.kind) for d in got] == [(4, opened), (6, closed), (9, opened)]


def test_window_that_starts_at_step_one_is_announced_at_step_one() -> None:
    got = simulate(config({"steps_on": 2, "steps_off": 3, "start_step": 1}), 2)
    assert [d.step for d in got] == [1]


def test_window_without_an_off_stretch_opens_once() -> None:
    got = simulate(config({"steps_on": 2, "steps_off": 0, "start_step": 1}), 9)
    assert [d.kind for d in got] == ["penalty_window_opened"]


def test_interval_resets_every_n_steps() -> None:
    got = simulate(config(reset_interval=200), 1000)
    assert [d.step for d in got] == [200, 400, 600, 800, 1000]


def test_kl_above_the_threshold_resets_with_the_value_as_evidence() -> None:
    (decision,) = Controller(config(kl_threshold=0.5)).end_step(7, Measured(0.6))
    assert decision.kind == "reference_reset"
    assert decision.evidence["kl"] == 0.6
    assert decision.evidence["rule"] == "kl_threshold"


def test_kl_spike_is_measured_in_robust_log_deviations() -> None:
    controller = Controller(config(kl_zscore=5.0, kl_window=5))
    for step in range(1, 6):
        assert controller.end_step(step, Measured(0.01)) == []
    # a constant history: expected 0.01, standard deviation at least 0.1, so the limit is 0.01 * exp(0.5) = 0.01649
    assert controller.end_step(6, Measured(0.0164)) == []
    (decision,) = controller.end_step(7, Measured(0.018))
    assert decision.evidence["rule"] == "kl_zscore"
    assert decision.evidence["expected"] == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(
    "climb",
    [
        lambda n: 1e-4 * n,
        lambda n: 1e-3 * math.sqrt(n),
        lambda n: 1e-6 * n * n,
        lambda n: 1e-5 * math.exp(n / 40),
        lambda n: 0.0,
    ],
)
def test_steady_climb_after_a_reset_is_no_spike(climb: Any) -> None:
    controller = Controller(config(kl_zscore=8.0))
    assert [d for n in range(200) for d in controller.end_step(n + 1, Measured(climb(n)))] == []


def test_jump_within_a_climb_is_a_spike() -> None:
    controller = Controller(config(kl_zscore=8.0))
    for n in range(1, 100):
        controller.end_step(n, Measured(1e-4 * n))
    (decision,) = controller.end_step(100, Measured(3e-2))
    assert decision.evidence["z"] > 8


def test_kl_history_begins_anew_after_a_reset() -> None:
    controller = Controller(config(kl_zscore=5.0, kl_window=5, kl_threshold=1.0))
    for step in range(1, 8):
        controller.end_step(step, Measured(0.01))
    assert len(controller.end_step(8, Measured(2.0))) == 1
    later = [d for s in range(9, 13) for d in controller.end_step(s, Measured(0.5))]
    assert later == []


def test_cool_down_holds_back_a_second_kl_reset() -> None:
    controller = Controller(config(kl_threshold=0.5, cool_down=10))
    assert len(controller.end_step(5, Measured(0.6))) == 1
    assert controller.end_step(14, Measured(0.6)) == []
    assert len(controller.end_step(15, Measured(0.6))) == 1


def test_jump_in_the_first_window_that_stays_is_seen_by_the_threshold_alone() -> None:
    kls = [1e-4] * 10 + [5.0] * 150
    spike: dict[str, Any] = {"kl_zscore": 8.0, "kl_window": 50}
    threshold: dict[str, Any] = {"kl_threshold": 1.0}
    for rule, steps in ((spike, []), (threshold, [11])):
        controller = Controller(config(**rule))
        found = [d for i, kl in enumerate(kls, 1) for d in controller.end_step(i, Measured(kl))]
        assert [d.step for d in found][:1] == steps


def test_two_rules_at_one_step_make_one_reset_that_names_both() -> None:
    controller = Controller(config(kl_threshold=0.5, reset_interval=9))
    (decision,) = controller.end_step(9, Measured(0.6))
    assert (decision.evidence["rule"], decision.evidence["also"]) == ("kl_threshold", ["interval"])


def test_flat_validation_stalls_after_four_times_k() -> None:
    # the minimal gain of 20 per 1,000 steps is 0.12 in 6 steps, far above the error
    controller = Controller(config(stall_validations=3, stall_gain=20))
    assert rules(feed(controller, [0.4] * 12)) == [(12, "stalled_validation")]


def test_the_next_stall_is_sought_in_what_comes_after_the_last() -> None:
    controller = Controller(config(stall_validations=3, stall_gain=20))
    assert [step for step, _ in rules(feed(controller, [0.4] * 30))] == [12, 24]


def test_climb_of_at_least_the_stall_gain_is_no_stall() -> None:
    controller = Controller(config(stall_validations=3, stall_gain=20))
    assert feed(controller, [0.2 + 0.02 * i for i in range(30)]) == []


def test_climb_below_the_stall_gain_is_a_stall() -> None:
    controller = Controller(config(stall_validations=3, stall_gain=20))
    got = feed(controller, [0.2 + 0.005 * i for i in range(12)])
    assert rules(got) == [(12, "stalled_validation")]
    seen = got[0].evidence
    assert seen["gain"] == pytest.approx(0.03)
    assert seen["gain_due"] == pytest.approx(0.12)


def test_one_noisy_validation_is_no_degradation() -> None:
    controller = Controller(config(stall_validations=3))
    assert feed(controller, [0.40] * 9 + [0.38] + [0.40] * 5) == []


def test_drop_beyond_the_noise_resets_as_degraded() -> None:
    controller = Controller(config(stall_validations=3))
    got = feed(controller, [0.50, 0.51, 0.49] * 3 + [0.30, 0.31, 0.29])
    assert rules(got) == [(10, "degraded_validation")]
    assert got[0].evidence["p"] < 0.002
    assert got[0].evidence["before_steps"] == "1-7"


def test_drop_that_nothing_takes_back_resets_once() -> None:
    controller = Controller(config(stall_validations=3))
    got = feed(controller, [0.5] * 9 + [0.3] * 30)
    assert rules(got) == [(10, "degraded_validation")]


@pytest.mark.parametrize("reset_to", ["best", "best_reference"])
def test_reset_to_the_best_names_the_step_and_whose_weights_change(reset_to: str) -> None:
    controller = Controller(config(stall_validations=3, reset_to=reset_to))
    (decision,) = feed(controller, [0.5] * 9 + [0.3])
    assert (decision.evidence["reset_to"], decision.evidence["best_step"]) == (reset_to, 1)
    stays = "the policy keeps its own" in decision.evidence["weights"]
    assert stays == (reset_to == "best_reference")


@pytest.mark.parametrize(("reset_to", "kept"), [("current", 4), ("best_reference", 4), ("best", 0)])
def test_only_a_policy_that_goes_back_begins_a_new_history(reset_to: str, kept: int) -> None:
    controller = Controller(config(reset_interval=4, stall_validations=3, reset_to=reset_to))
    (decision,) = feed(controller, [0.5, 0.4, 0.4, 0.4])
    assert decision.evidence["reset_to"] == reset_to
    assert len(controller.validations.steps) == kept


def test_reset_to_best_right_after_the_best_validation_is_to_the_current_policy() -> None:
    controller = Controller(config(reset_interval=2, reset_to="best"))
    feed(controller, [0.3])
    (decision,) = controller.end_step(2, validated(0.4))
    assert (decision.evidence["reset_to"], decision.evidence["best_step"]) == ("current", 2)


def test_reset_to_best_without_any_validation_is_to_the_current_policy() -> None:
    (decision,) = Controller(config(reset_interval=2, reset_to="best")).end_step(2, Measured(None))
    assert (decision.evidence["reset_to"], decision.evidence["best_step"]) == ("current", None)


def test_history_keeps_eight_times_k_validations_and_none_where_the_tests_are_off() -> None:
    for k, kept in ((2, 16), (0, 0)):
        controller = Controller(config(stall_validations=k))
        feed(controller, [0.3 + 0.02 * i for i in range(30)])
        assert len(controller.validations.rewards) == kept


def test_other_problems_than_before_begin_a_new_history() -> None:
    controller = Controller(config(stall_validations=3))
    feed(controller, [0.5] * 9)
    fewer = Measured(None, None, ValidationResult(0.2, 0.02, (0.2,) * 40))
    assert [controller.end_step(step, fewer) for step in range(10, 16)] == [[]] * 6


def test_problems_without_a_verdict_are_left_out_of_the_pairs() -> None:
    controller = Controller(config(stall_validations=3))
    feed(controller, [0.5] * 9)
    some = Measured(None, None, ValidationResult(0.1, 0.02, (None,) * 30 + (0.1,) * 20))
    (decision,) = controller.end_step(10, some)
    # the 3 newest: two of 0.5 and one of 0.1 with verdicts, two of 0.5 otherwise
    assert decision.evidence["gain"] == pytest.approx((-0.4 / 3) * 20 / 50)


def test_a_checkpoint_of_an_older_stall_rule_is_one_line() -> None:
    old = Controller(config()).to_json() | {"validations": {"blocks": [], "open": []}}
    with pytest.raises(UserError, match="has no validation rewards by problem"):
        Controller(config()).restore(old)


def test_not_a_number_never_triggers_a_reset() -> None:
    controller = Controller(config(kl_threshold=0.5, stall_validations=1))
    nan = float("nan")
    for step in range(1, 20):
        measured = Measured(nan, nan, ValidationResult(nan, nan, (nan,) * 5))
        assert controller.end_step(step, measured) == []
    assert controller.best_step is None


PHASES = [
    {"name": "one", "steps": 10},
    {"name": "two", "steps": 5, "reset": True, "set": {"rollout": {"samples": 32}}},
    {"name": "three", "steps": 100, "set": {"controller": {"optimizer": "clear"}}},
]


def phased(phases: list[dict[str, Any]], **more: Any) -> TrainConfig:
    penalty = more.pop("penalty", {"weight": 0})
    controller = QUIET | more
    return TrainConfig.model_validate(
        {"phases": phases, "controller": controller, "length_penalty": penalty}
    )


def test_phases_begin_on_time_with_their_reset_and_their_settings() -> None:
    controller = Controller(phased(PHASES))
    seen = []
    for step in range(1, 31):
        seen += [(d.step, d.kind) for d in controller.begin_step(step)]
        assert controller.settings.rollout.samples == (32 if 11 <= step <= 15 else 16)
        controller.end_step(step, Measured(None))
    started, reset = "phase_started", "reference_reset"
    assert seen == [(1, started), (11, started), (11, reset), (16, started)]


def test_last_phase_holds_for_all_steps_beyond_its_own() -> None:
    controller = Controller(phased([{"name": "only", "steps": 3}]))
    for step in range(1, 10):
        controller.begin_step(step)
    assert controller.phase == 0


def test_reset_takes_the_phases_own_optimizer_rule() -> None:
    got = simulate(phased(PHASES, reset_interval=20), 40)
    resets = [(d.step, d.evidence["optimizer"]) for d in got if d.kind == "reference_reset"]
    # the interval counts from the phase's reset after step 10
    assert resets == [(11, "keep"), (30, "clear")]


def test_interval_does_not_reset_right_before_a_phase_that_resets() -> None:
    got = simulate(phased(PHASES, reset_interval=10), 14)
    assert [d.step for d in got if d.kind == "reference_reset"] == [11]


def test_phase_until_stall_ends_with_the_stall_instead_of_a_reset() -> None:
    phases = [{"name": "one", "steps": 50, "until": "stall"}, {"name": "two", "steps": 50}]
    controller = Controller(phased(phases, stall_validations=3, stall_gain=20))
    started = []
    for step in range(1, 15):
        started += controller.begin_step(step)
        assert controller.end_step(step, validated(0.4)) == []
    assert [(d.step, d.kind) for d in started] == [(1, "phase_started"), (13, "phase_started")]
    assert started[1].evidence["ended_by"]["rule"] == "stalled_validation"


def test_last_phase_until_stall_resets_on_a_stall() -> None:
    phases = [{"name": "one", "steps": 50, "until": "stall"}]
    controller = Controller(phased(phases, stall_validations=3, stall_gain=20))
    controller.begin_step(1)
    assert rules(feed(controller, [0.4] * 12)) == [(12, "stalled_validation")]


def test_phase_that_changes_the_context_forgets_the_validations_before_it() -> None:
    phases = [
        {"name": "short", "steps": 9},
        {"name": "long", "steps": 9, "set": {"rollout": {"max_tokens": 16384}}},
    ]
    controller = Controller(phased(phases, stall_validations=3))
    for step, mean in enumerate([0.5] * 9 + [0.2, 0.21, 0.22], start=1):
        controller.begin_step(step)
        assert controller.end_step(step, validated(mean)) == []
    assert controller.best_step == 12


def test_phase_that_leaves_the_context_is_held_against_the_level_before_it() -> None:
    phases = [{"name": "one", "steps": 9}, {"name": "two", "steps": 9}]
    controller = Controller(phased(phases, stall_validations=3))
    got = []
    for step, mean in enumerate([0.5] * 9 + [0.2], start=1):
        controller.begin_step(step)
        got += controller.end_step(step, validated(mean))
    assert rules(got) == [(10, "degraded_validation")]


def test_window_open_at_a_phase_boundary_stays_open_where_the_phase_leaves_the_penalty() -> None:
    phases = [{"name": "one", "steps": 5}, {"name": "two", "steps": 50}]
    penalty = {"steps_on": 4, "steps_off": 20, "start_step": 4}
    got = simulate(phased(phases, penalty=penalty), 10)
    assert [(d.step, d.kind[15:]) for d in got if "window" in d.kind] == [
        (4, "opened"),
        (8, "closed"),
    ]


def test_window_open_at_a_phase_boundary_is_closed_by_a_phase_without_penalty() -> None:
    off = {"length_penalty": {"weight": 0}}
    phases = [{"name": "one", "steps": 5}, {"name": "two", "steps": 50, "set": off}]
    got = simulate(phased(phases, penalty={"steps_on": 9, "steps_off": 9, "start_step": 4}), 30)
    windows = [d for d in got if "window" in d.kind]
    assert [(d.step, d.kind[15:]) for d in windows] == [(4, "opened"), (6, "closed")]


def test_open_window_whose_values_the_phase_changes_is_closed_and_opened_anew() -> None:
    other = {"length_penalty": {"weight": 0.5}}
    phases = [{"name": "one", "steps": 5}, {"name": "two", "steps": 50, "set": other}]
    got = simulate(phased(phases, penalty={"steps_on": 4, "steps_off": 9, "start_step": 4}), 9)
    windows = [(d.step, d.kind[15:], d.evidence["weight"]) for d in got if "window" in d.kind]
    assert windows == [
        (4, "opened", 1.0),
        (6, "closed", 1.0),
        (6, "opened", 0.5),
        (8, "closed", 0.5),
    ]


def test_start_step_that_a_phase_sets_counts_from_the_phases_first_step() -> None:
    own = {"length_penalty": {"weight": 1, "start_step": 3, "steps_on": 2, "steps_off": 50}}
    phases = [{"name": "one", "steps": 5}, {"name": "two", "steps": 50, "set": own}]
    got = simulate(phased(phases), 30)
    windows = [(d.step, d.kind[15:]) for d in got if "window" in d.kind]
    assert windows == [(8, "opened"), (10, "closed")]


def test_state_of_a_phase_that_the_config_lacks_is_refused() -> None:
    controller = Controller(phased(PHASES))
    for step in range(1, 20):
        controller.begin_step(step)
    with pytest.raises(UserError, match="the checkpoint is in phase 3, but the config has 1"):
        Controller(phased(PHASES[:1])).restore(controller.to_json())


def test_quickstart_opens_a_window_and_resets_the_reference() -> None:
    quickstart = load_config("quickstart")
    kinds = {d.kind for d in simulate(quickstart, quickstart.steps)}
    assert {"penalty_window_opened", "penalty_window_closed", "reference_reset"} <= kinds


def test_v2_resets_within_its_published_interval_of_200_to_500_steps() -> None:
    decisions = simulate(load_config("prorl-v2"), 3000)
    resets = [0, *(d.step for d in decisions if d.kind == "reference_reset")]
    gaps = [b - a for a, b in itertools.pairwise(resets)]
    assert gaps and all(200 <= gap <= 500 for gap in gaps)
