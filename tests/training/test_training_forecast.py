from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from prorl_common import UserError
from prorl_training.schedule.curve_fit import (
    CORRELATIONS,
    FAMILIES,
    Design,
    Functional,
    Shapes,
    draw,
    grid,
    likely,
    settle,
    thresholds,
)
from prorl_training.schedule.forecast import Forecast, forecast, one_line, read_series

Curve = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


def sigmoid(c: Any, r0: float, a: float, middle: float, b: float) -> Any:
    return r0 + (a - r0) / (1 + (middle / c) ** b)


def rows_of(values: Any, every: int = 20, tokens: int | None = 1000) -> list[dict[str, Any]]:
    return [
        {"step": (i + 1) * every, "validation_reward": float(v)}
        | ({"tokens_total": (i + 1) * every * tokens} if tokens else {})
        for i, v in enumerate(values)
    ]


def noisy(count: int, noise: float, curve: Curve, seed: int = 0) -> Any:
    c = np.arange(1, count + 1) / count
    return curve(c) + noise * np.random.default_rng(seed).standard_normal(count)


def test_the_best_sigmoid_is_scipys_curve_fit() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    c = np.arange(1, 41) / 40
    for seed in range(3):
        y = noisy(40, 0.01, lambda c: sigmoid(c, 0.2, 0.6, 0.4, 2.0), seed)
        setting = settle(c, np.arange(40.0), y, 0.0)
        sigmoids = np.flatnonzero(setting.shapes.family == FAMILIES.index("sigmoid"))
        setting.height[:, setting.shapes.family != FAMILIES.index("sigmoid")] = np.inf
        shape, start, ceiling = setting.likeliest()
        assert shape in sigmoids
        ours = start + (ceiling - start) * setting.shapes.share(c)[shape]
        k = int(setting.height[:, shape].argmin())
        covariance = CORRELATIONS[k].matrix(np.arange(40.0))  # the same noise for both
        theirs, _ = optimize.curve_fit(
            sigmoid, c, y, (0.2, 0.6, 0.4, 2), covariance, bounds=(0.0, [1, 1, 8, 6])
        )
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        best = float(((root @ (y - sigmoid(c, *theirs))) ** 2).sum())
        mine = float(((root @ (y - ours)) ** 2).sum())
        assert best <= mine * (1 + 1e-6)
        assert mine <= best * 1.01  # the grid's step is at most 0.4 in H
        assert abs(ceiling - theirs[1]) < 0.02


def test_the_likelihood_is_the_normal_ones_written_out() -> None:
    stats = pytest.importorskip("scipy.stats")
    c, places = np.arange(1, 13) / 12, np.arange(12.0)
    y = noisy(12, 0.02, lambda c: sigmoid(c, 0.2, 0.5, 0.4, 2.0))
    setting = settle(c, places, y, 0.0)
    k, g = np.unravel_index(setting.height.argmin(), setting.height.shape)
    start, ceiling = setting.fits.start[0, k, g], setting.fits.ceiling[0, k, g]
    curve = start + (ceiling - start) * setting.shapes.share(c)[g]
    variance = setting.fits.sse[0, k, g] / 12
    density = stats.multivariate_normal(curve, variance * CORRELATIONS[k].matrix(places))
    assert -2 * density.logpdf(y) == pytest.approx(
        setting.height[k, g] + 12 * math.log(2 * math.pi)
    )


def test_allowed_values_are_those_that_a_brute_force_profile_allows() -> None:
    c, places = np.arange(1, 21) / 20, np.arange(20.0)
    y = noisy(20, 0.015, lambda c: np.minimum(0.2 + 0.4 * c, 0.45))
    setting = settle(c, places, y, 0.0)
    then = setting.shapes.share(np.array([1.5]))[:, 0]
    low, high = setting.allowed(Functional(1 - then, then), 5.0)
    least = setting.height.min()

    def height(value: float) -> float:
        """Return the least H of all curves with the value ``value`` at 1.5, by least squares on a substituted model."""
        found = []
        for k in CORRELATIONS:
            root = np.linalg.inv(np.linalg.cholesky(k.matrix(places)))
            log_det = -2 * np.log(np.diag(root)).sum()
            for share, at in zip(setting.shapes.share(c), then, strict=True):
                if at < 1e-3:
                    continue
                # R0 (1 - at) + A at = value, so y - value f / at = R0 (1 - f / at) + u
                x, z = root @ (1 - share / at), root @ (y - value * share / at)
                sse = float(z @ z - (z @ x) ** 2 / max(float(x @ x), 1e-12))
                found.append(20 * math.log(max(sse, 1e-12) / 20) + 20 + log_det)
        return float(min(found))

    assert height((low + high) / 2) - least < 5.0
    for value, inside in ((low, 0.002), (high, -0.002)):
        assert height(value + inside) - least < 5.0
        assert height(value - inside) - least > 5.0


def test_noise_is_what_single_problems_change_and_not_how_unlike_they_are() -> None:
    random = np.random.default_rng(1)
    chance = np.repeat([0.05, 0.95], 500)
    rows = [
        {"step": 20 * i, "validation_reward": float(r.mean()), "validation_rewards": r.tolist()}
        for i in range(1, 41)
        for r in [(random.random(1000) < chance) * 1.0]
    ]
    assert read_series(rows).noise == pytest.approx(0.05 * 0.95 / 1000, rel=0.1)


def test_a_movement_common_to_all_problems_is_no_noise() -> None:
    rows = [
        {"step": i, "validation_reward": i / 10, "validation_rewards": [i / 10] * 9}
        for i in range(1, 9)
    ]
    assert read_series(rows).noise == pytest.approx(0)


def test_validations_of_another_set_of_problems_are_left_out() -> None:
    rows = [
        {"step": i, "validation_reward": 0.5, "validation_rewards": [0.5] * (5 if i < 4 else 6)}
        for i in range(1, 10)
    ]
    assert read_series(rows).steps.tolist() == [4, 5, 6, 7, 8, 9]


def test_compute_is_tokens_where_rows_have_them_and_goes_on_at_the_newest_rate() -> None:
    rows = rows_of([0.1] * 8)
    for row in rows[6:]:
        row["tokens_total"] += 20_000 * (
            row["step"] // 20 - 6
        )  # twice as many per step from there on
    series = read_series(rows)
    assert (series.unit, series.rate) == ("tokens", 2000)
    assert read_series(rows_of([0.1] * 8, tokens=None)).unit == "steps"


def test_of_several_lines_of_a_step_the_last_counts_in_the_order_of_the_steps() -> None:
    rows = rows_of([0.1 * i for i in range(1, 9)])
    again = [{**row, "validation_reward": 0.5} for row in rows[2:4]]
    series = read_series([*rows, *again])
    assert series.steps.tolist() == [20 * i for i in range(1, 9)]
    assert series.values.tolist() == pytest.approx([0.1, 0.2, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8])
    forecast([*rows, *again], 400)


@pytest.mark.parametrize("mean", [math.nan, math.inf, -math.inf])
def test_a_mean_that_is_not_finite_is_no_validation(mean: float) -> None:
    rows = rows_of([0.1 * i for i in range(1, 10)])
    odd = [*rows[:4], {**rows[4], "validation_reward": mean}, *rows[5:]]
    assert forecast(odd, 400) == forecast([*rows[:4], *rows[5:]], 400)


def test_rewards_that_are_not_finite_are_as_those_without_a_verdict() -> None:
    rewards = np.random.default_rng(0).random((9, 5)).tolist()
    rows = [
        row | {"validation_rewards": r} for row, r in zip(rows_of([0.5] * 9), rewards, strict=True)
    ]
    odd = [{**row, "validation_rewards": [math.nan, *row["validation_rewards"]]} for row in rows]
    none = [{**row, "validation_rewards": [None, *row["validation_rewards"]]} for row in rows]
    assert read_series(odd).noise == read_series(none).noise > 0


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("validation_reward", 12.5, r"step 40 has validation_reward = 12.5, .* from 0 to 1"),
        ("validation_reward", -0.1, r"step 40 has validation_reward = -0.1, .* from 0 to 1"),
        (
            "validation_reward",
            "much",
            r"step 40 has validation_reward = 'much', which is not a number",
        ),
        ("tokens_total", "many", r"step 40 has tokens_total = 'many', which is not a number"),
        ("validation_rewards", 0.5, r"step 40 has validation_rewards = 0.5, which is not a list"),
        ("validation_rewards", [{}], r"step 40 has validation_rewards = {}, which is not a number"),
    ],
)
def test_what_is_no_reward_is_refused_with_its_step(key: str, value: Any, said: str) -> None:
    rows = rows_of([0.1 * i for i in range(1, 10)])
    rows[1][key] = value
    with pytest.raises(UserError, match=said):
        forecast(rows, 400)


@pytest.mark.parametrize("tokens", [[0] * 9, [500] * 9, list(range(9, 0, -1)), [math.nan] * 9])
def test_tokens_that_do_not_grow_are_no_compute(tokens: list[float]) -> None:
    rows = rows_of([0.1 * i for i in range(1, 10)])
    for row, total in zip(rows, tokens, strict=True):
        row["tokens_total"] = total
    series = read_series(rows)
    assert (series.unit, series.compute.tolist()) == ("steps", series.steps.tolist())


def test_a_run_that_has_levelled_off_has_its_ceiling_told() -> None:
    found = forecast(rows_of(noisy(40, 0.01, lambda c: np.minimum(0.2 + 0.6 * c, 0.5))), 1200)
    assert found.identified and found.ceiling and found.value and found.gain
    assert found.ceiling.low < 0.5 < found.ceiling.high < 0.6
    assert found.value.low < 0.5 < found.value.high
    assert found.gain.low <= 0 <= found.gain.high < 0.05
    assert one_line(found).startswith("forecast for step 1200: validation 0.5")


def test_a_steady_climb_has_no_ceiling_to_tell() -> None:
    found = forecast(rows_of(noisy(20, 0.01, lambda c: 0.2 + 0.2 * c)), 1600)
    assert not found.identified and found.ceiling is not None
    assert found.ceiling.high == 1.0
    assert "the ceiling may be anything from" in found.why


def test_a_run_that_has_not_moved_is_refused() -> None:
    found = forecast(rows_of(noisy(20, 0.02, lambda c: 0.3 + 0 * c)), 800)
    assert not found.identified
    assert found.why.startswith("no change of validation is shown: in 20 validations a random walk")
    assert one_line(found).startswith("no forecast for step 800: no change of validation is shown")


@pytest.mark.parametrize("values", [[0.0] * 12, [1.0] * 12, [0.5] * 9])
def test_a_run_that_is_always_the_same_is_refused_without_a_number_that_is_none(
    values: list[float],
) -> None:
    found = forecast(rows_of(values), 800)
    assert not found.identified and "no change of validation is shown" in found.why
    assert found.value and math.isfinite(found.value.low + found.value.high)


def test_a_straight_line_without_noise_may_go_on_or_bend() -> None:
    found = forecast(rows_of(np.linspace(0.1, 0.5, 12)), 480)
    assert found.value and found.value.low < 0.55 and found.value.high > 0.85


def test_too_few_validations_are_refused_with_the_step_from_which_there_are_enough() -> None:
    found = forecast(rows_of([0.1, 0.2, 0.3]), 800)
    assert (found.identified, found.ceiling, found.curve) == (False, None, ())
    assert found.why == (
        "3 validations: a curve needs at least 8, which this run has from step 160 on"
    )
    assert forecast([], 800).why == "0 validations: a curve needs at least 8"


def test_a_step_that_is_past_is_a_mistake() -> None:
    with pytest.raises(UserError, match="step 60 is not after the last validation"):
        forecast(rows_of([0.1, 0.2, 0.3]), 60)


def test_the_same_rows_give_the_same_forecast_and_another_seed_another_bootstrap() -> None:
    rows = rows_of(noisy(16, 0.01, lambda c: sigmoid(c, 0.2, 0.5, 0.3, 2.0)))
    assert forecast(rows, 500) == forecast([dict(r) for r in rows], 500)
    one, other = forecast(rows, 500, seed=1), forecast(rows, 500, seed=2)
    assert one.value and other.value and one.value.value == other.value.value
    assert one.value.high != other.value.high


def test_the_curve_runs_from_the_first_validation_to_the_step_asked_for() -> None:
    found = forecast(rows_of(noisy(16, 0.01, lambda c: sigmoid(c, 0.2, 0.5, 0.3, 2.0))), 500)
    assert (found.curve[0].step, found.curve[-1].step) == (20, 500)
    assert all(0 <= p.low <= p.value <= p.high <= 1 for p in found.curve)
    assert found.value is not None
    last = found.curve[-1]
    assert (last.value, last.low, last.high) == pytest.approx(
        (found.value.value, found.value.low, found.value.high)
    )


def test_a_run_that_falls_has_a_ceiling_below_its_start() -> None:
    found = forecast(rows_of(noisy(40, 0.01, lambda c: sigmoid(c, 0.5, 0.3, 0.2, 3.0))), 1200)
    assert found.value and found.value.value == pytest.approx(0.3, abs=0.03)
    assert found.gain and found.gain.high < 0.05


@pytest.mark.parametrize("family", range(len(FAMILIES)))
def test_every_shape_rises_from_0_and_half_is_done_at_its_middle(family: int) -> None:
    shapes = grid(1.0).of(family)
    share = shapes.share(np.linspace(0, 20, 200))
    assert share[:, 0] == pytest.approx(0, abs=1e-4)
    assert (np.diff(share, axis=1) >= -1e-12).all()
    middle = Shapes(shapes.family[:1], shapes.middle[:1], shapes.exponent[:1])
    half = middle.share(middle.middle)[0, 0]
    assert half == pytest.approx(1.0 if FAMILIES[family] == "broken line" else 0.5)


def test_the_threshold_is_the_bootstraps_and_no_lower_than_the_usual_one() -> None:
    c, places = np.arange(1, 13) / 12, np.arange(12.0)
    y = noisy(12, 0.02, lambda c: sigmoid(c, 0.2, 0.5, 0.4, 2.0))
    setting = settle(c, places, y, 0.0)
    random = np.random.default_rng(0)
    drawn = draw(setting, likely(setting), random)
    ones = np.ones(setting.shapes.family.size)
    (limit,) = thresholds(setting, drawn, [Functional(0 * ones, ones)], random)
    assert 3.84 <= limit < 20
    assert ((drawn.ceiling >= 0) & (drawn.ceiling <= 1)).all()


def test_weights_are_the_normal_likelihood_with_start_and_ceiling_integrated_out() -> None:
    c, places = np.arange(1, 11) / 10, np.arange(10.0)
    y = noisy(10, 0.03, lambda c: sigmoid(c, 0.3, 0.6, 0.4, 2.0))
    setting = settle(c, places, y, 0.03**2 * 0.9)
    found = likely(setting)
    wide = np.linspace(-3, 4, 701)
    start, ceiling = np.meshgrid(wide, np.linspace(0, 1, 201), indexing="ij")

    def integral(v: int, k: int, g: int) -> float:
        root = np.linalg.inv(np.linalg.cholesky(CORRELATIONS[k].matrix(places)))
        share = setting.shapes.share(c)[g]
        curve = start[..., None] * (1 - share) + ceiling[..., None] * share
        variance = found.variances[v]
        squares = (((y - curve) @ root.T) ** 2).sum(axis=-1) / variance
        density = np.exp(-squares / 2) * variance ** (-10 / 2) * np.linalg.det(root)
        return float(density.sum())

    same = np.flatnonzero(setting.shapes.family == FAMILIES.index("sigmoid"))
    order = same[np.argsort(-found.weights[1, 0, same])]
    one, other = (1, 0, int(order[0])), (2, 1, int(order[len(order) // 3]))
    assert found.weights[one] / found.weights[other] == pytest.approx(
        integral(*one) / integral(*other), rel=0.05
    )


def test_least_squares_of_many_series_are_those_of_each() -> None:
    c, places = np.arange(1, 11) / 10, np.arange(10.0)
    design = Design(grid(1.0), c, places)
    series = np.random.default_rng(0).random((3, 10))
    together = design.fit(series)
    g = 150
    x = np.stack([1 - design.shapes.share(c)[g], design.shapes.share(c)[g]], axis=1)
    for number, y in enumerate(series):
        beta, squares, *_ = np.linalg.lstsq(x, y, rcond=None)
        assert together.start[number, 0, g] == pytest.approx(beta[0], abs=1e-5)
        assert together.ceiling[number, 0, g] == pytest.approx(beta[1], abs=1e-5)
        assert together.sse[number, 0, g] == pytest.approx(float(squares[0]), abs=1e-6)


def test_json_holds_numbers_and_words_only() -> None:
    found: Forecast = forecast(rows_of(noisy(12, 0.01, lambda c: 0.2 + 0.1 * c)), 400)
    made = found.to_json()
    assert set(made["ceiling"]) == {"value", "low", "high", "identified"}
    assert set(made["curve"][0]) == {"step", "value", "low", "high"}
    import json

    json.loads(json.dumps(made, allow_nan=False))
