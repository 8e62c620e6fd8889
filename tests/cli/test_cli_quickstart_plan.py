from __future__ import annotations

from pathlib import Path

import pytest

from prorl_cli.quickstart.plan import (
    LONGER,
    PROMPTS,
    SAMPLES,
    SIZES,
    Costs,
    Pace,
    Plan,
    Rates,
    choose,
    costs_of,
    minutes_for_gain,
)


def rates(speed: float) -> Rates:
    """Return the rates of a machine ``speed`` times as fast as two free cores of a current server."""
    return Rates(290 * speed, 200 * speed, 1.5 / speed, 65.0, 10.0)


@pytest.mark.parametrize(
    ("speed", "minutes", "steps", "problems", "answers", "shows_gain"),
    [
        (20.0, 6, 60, 100, 16, True),  # a GPU
        (1.0, 6, 20, 100, 8, True),
        (0.7, 6, 12, 100, 8, True),
        (0.5, 6, 9, 60, 8, True),
        (0.4, 6, 7, 40, 8, True),  # old cores: the fixed quickstart took 10 minutes
        (0.3, 6, 5, 20, 4, False),
        (0.02, 6, 1, 20, 4, False),  # the slowest machine gets the smallest plan
        (1.0, 30, 60, 100, 16, True),
        (0.4, 10, 12, 60, 8, True),
        (0.2, 30, 20, 100, 8, True),  # two cores shared with other processes
    ],
)
def test_the_plan_is_as_large_as_speed_and_minutes_allow(
    speed: float, minutes: int, steps: int, problems: int, answers: int, shows_gain: bool
) -> None:
    plan = choose(costs_of(rates(speed)), 60 * minutes)
    assert (plan.steps, plan.problems, plan.answers) == (steps, problems, answers)
    assert plan.shows_gain is shows_gain


@pytest.mark.parametrize("speed", [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("minutes", [2, 4, 6, 15, 60])
def test_a_plan_ends_in_time_unless_it_is_the_smallest(speed: float, minutes: int) -> None:
    plan = choose(costs_of(rates(speed)), 60 * minutes)
    smallest = (1, SIZES[-1].problems) == (plan.steps, plan.problems)
    assert plan.seconds <= 60 * minutes or smallest


@pytest.mark.parametrize("speed", [0.02, 0.2, 1.0, 5.0])
def test_the_minutes_that_are_named_show_a_gain_and_a_minute_less_does_not(speed: float) -> None:
    costs = costs_of(rates(speed))
    minutes = minutes_for_gain(costs)
    assert choose(costs, 60 * minutes).shows_gain
    assert minutes == 1 or not choose(costs, 60 * (minutes - 1)).shows_gain


def test_given_steps_are_kept_and_the_evaluation_takes_what_time_is_left() -> None:
    costs = costs_of(rates(1.0))
    few, many = choose(costs, 360, steps=2), choose(costs, 360, steps=40)
    assert (few.steps, few.shows_gain) == (2, False) and few.problems == 100
    assert (many.steps, many.problems) == (40, SIZES[-1].problems)


def test_a_plan_without_hope_says_what_would_do() -> None:
    plan = choose(costs_of(rates(0.1)), 360)
    assert not plan.shows_gain
    assert f"prorl quickstart --minutes {plan.minutes_for_gain}" in plan.too_little(6)


def test_a_run_whose_minutes_would_do_by_now_is_not_told_to_take_fewer() -> None:
    plan = choose(costs_of(rates(0.1)), 360)
    assert "busy when the run was planned" in plan.too_little(plan.minutes_for_gain)


def test_a_saved_plan_is_read_again(tmp_path: Path) -> None:
    plan = choose(costs_of(rates(1.0)), 360)
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan
    assert Plan.load(tmp_path / "none.json") is None


class Run:
    """A run with a clock whose steps take ``slower`` times as long as planned."""

    def __init__(self, minutes: float, slower: float, steps: int | None = None) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self.costs = costs_of(rates(1.0))
        self.slower = slower
        plan = choose(self.costs, 60 * minutes, steps)
        self.planned = plan.steps
        self.now = self.costs.begin + plan.examples * self.costs.example
        self.pace = Pace(plan, self.costs, 60 * minutes, steps, self.lines.append, lambda: self.now)

    def train(self) -> int:
        """Return the number of completed steps."""
        for step in range(1, self.planned + 1):
            seconds = self.slower * self.costs.step
            self.now += seconds
            sampling = self.slower * PROMPTS * SAMPLES * self.costs.answer / LONGER
            row = {"step": step, "seconds": seconds, "sample_seconds": sampling}
            if not self.pace.after_step(row):
                return step
        return self.planned


def test_a_run_as_fast_as_planned_does_all_its_steps_and_says_nothing() -> None:
    run = Run(6, 1.0)
    assert run.train() == run.planned and run.lines == []


@pytest.mark.parametrize("slower", [1.5, 2.0, 3.0, 6.0])
def test_a_machine_that_turns_out_slower_does_fewer_steps_and_keeps_time_for_the_evaluation(
    slower: float,
) -> None:
    run = Run(6, slower)
    done = run.train()
    assert 1 <= done < run.planned
    assert any("slower than planned" in line for line in run.lines)
    plan = run.pace.before_evaluation(done)
    assert plan.steps == done
    took = run.now + 2 * plan.problems * plan.answers * slower * run.costs.answer + run.costs.end
    assert took <= 360 or (plan.problems, plan.answers) == (20, 4)


def test_a_machine_that_turns_out_faster_evaluates_more() -> None:
    run = Run(3, 0.5)
    smaller = run.pace.plan.problems
    assert run.pace.before_evaluation(run.train()).problems > smaller


def test_given_steps_are_done_however_long_they_take() -> None:
    run = Run(6, 10.0, steps=5)
    assert run.train() == 5


def test_costs_are_of_both_evaluations_and_the_warm_start_only_before_the_first_step() -> None:
    costs = Costs(example=1.0, step=10.0, answer=0.1, begin=5.0, end=7.0)
    size = SIZES[-1]
    assert costs.around(size, 0) == pytest.approx(5 + size.examples + 2 * 20 * 4 * 0.1 + 7)
    assert costs.around(size, 3) == pytest.approx(2 * 20 * 4 * 0.1 + 7)
