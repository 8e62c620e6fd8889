from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prorl_common import MissingExtraError
from prorl_evaluation import (
    Resampling,
    false_positive_reading,
    g_pass_at_k,
    ks_up_to,
    maj_at_k,
    near_n_warning,
    pass_at_k,
    pass_at_k_table,
    suspicion,
)
from prorl_evaluation.metrics import MAJORITY_DRAWS, tally
from prorl_evaluation.stats.distributions import (
    benjamini_hochberg,
    expanded_tail,
    fisher_exact,
    holm,
    require_scipy,
    t_quantile,
    t_tail,
    unexpanded_tail,
)


@dataclass(frozen=True)
class Counts:
    n: int
    c: int


def test_a_rate_that_hides_everything_leaves_nothing_to_read() -> None:
    problems = [Counts(256, c) for c in (0, 100, 200)]
    for rate, k in ((0.3, 128), (0.99, 16), (0.1, 128)):
        found = suspicion(problems, k, rate)
        assert found.adjusted.count == 0 and found.observed > 0.5
        assert math.isnan(found.adjusted.value)


def test_random_tables_agree_with_scipys_hypergeometric_distribution() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 300))
        c, k, tau = int(rng.integers(0, n + 1)), int(rng.integers(1, n + 1)), rng.random()
        drawn = stats.hypergeom(n, c, k)
        assert pass_at_k(n, c, k) == pytest.approx(drawn.sf(0), abs=1e-9)
        least = max(1, math.ceil(tau * k))
        assert g_pass_at_k(n, c, k, tau) == pytest.approx(drawn.sf(least - 1), abs=1e-9)


def test_no_problem_is_dropped_from_the_table() -> None:
    table = pass_at_k_table([Counts(4, 1), Counts(0, 0), Counts(2, 2)], (1, 4))
    assert table.shape == (3, 2)
    assert table[0].tolist() == [0.25, 1.0]
    assert np.isnan(table[1]).all() and table[2, 0] == 1.0 and np.isnan(table[2, 1])


def test_g_pass_runs_from_any_success_to_all_of_them() -> None:
    assert g_pass_at_k(16, 5, 4, 0.0) == pass_at_k(16, 5, 4)
    assert g_pass_at_k(16, 5, 4, 1.0) == pytest.approx(math.comb(5, 4) / math.comb(16, 4))
    assert g_pass_at_k(10, 3, 10, 0.3) == 1.0 and g_pass_at_k(10, 2, 10, 0.3) == 0.0
    assert math.isnan(g_pass_at_k(3, 1, 4, 0.5))
    with pytest.raises(ValueError, match="tau"):
        g_pass_at_k(3, 1, 2, 1.5)


def test_a_k_above_half_of_n_is_warned_of() -> None:
    assert near_n_warning(256, 128) is None and near_n_warning(1, 1) is None
    line = near_n_warning(128, 100)
    assert line is not None and "pass@100" in line and "0.78" in line


def brute_majority(answers: Sequence[tuple[int, int]], n: int, k: int) -> float:
    """Average the correctness of the majority answer over every subset of k of the n samples."""
    samples = [i for i, (count, _) in enumerate(answers) for _ in range(count)]
    padded = samples + [-1] * (n - len(samples))
    outcomes = []
    for subset in itertools.combinations(padded, k):
        votes = [subset.count(i) for i in range(len(answers))]
        tied = [i for i, v in enumerate(votes) if v == max(votes) and v > 0]
        right = [answers[i][1] / answers[i][0] for i in tied]
        outcomes.append(sum(right) / len(right) if right else 0.0)
    return sum(outcomes) / len(outcomes)


@pytest.mark.parametrize(
    ("answers", "n"),
    [
        (((3, 3), (2, 0), (1, 1)), 8),
        (((4, 0), (3, 3)), 9),
        (((2, 2),), 6),  # one answer, so the value is exact
        (((5, 5), (2, 0)), 7),
    ],
)
def test_majority_agrees_with_every_subset(answers: tuple[tuple[int, int], ...], n: int) -> None:
    ks = (1, 2, 3, 5)
    found = maj_at_k(answers, n, ks, seed=3)
    expected = [brute_majority(answers, n, k) for k in ks]
    assert found == pytest.approx(expected, abs=3.5 * 0.5 / math.sqrt(MAJORITY_DRAWS))
    assert found == maj_at_k(answers, n, ks, seed=3)
    assert found[0] == pytest.approx(expected[0])


def test_majority_without_enough_samples_or_answers() -> None:
    assert math.isnan(maj_at_k(((2, 2),), 2, (4,), seed=0)[0])
    assert maj_at_k((), 4, (1, 4), seed=0) == [0.0, 0.0]
    with pytest.raises(ValueError, match="more votes"):
        maj_at_k(((3, 1),), 2, (1,), seed=0)


def test_a_tally_counts_texts_and_leaves_missing_answers_out() -> None:
    assert tally([("7", True), (None, False), ("8", False), ("7", True)]) == ((2, 2), (1, 0))


def test_half_a_percent_of_false_positives_reads_47_percent_at_128() -> None:
    assert false_positive_reading(0.005, 128) == pytest.approx(0.4736, abs=1e-4)
    assert false_positive_reading(0.0, 128) == 0.0
    with pytest.raises(ValueError, match="rate"):
        false_positive_reading(1.0, 2)


def test_the_adjusted_estimate_is_unbiased_for_what_the_model_solves() -> None:
    # Solved with p = 0.1; a wrong answer is accepted with f = 0.05: judged right with 0.145.
    n, k, judged = 12, 4, 0.1 + 0.9 * 0.05

    def adjusted(c: int, rate: float) -> float:
        # a solved problem keeps the mean above 0, where it would be clipped
        return 2 * suspicion([Counts(n, c), Counts(n, n)], k, rate).adjusted.value - 1

    mean = sum(stats.binom.pmf(c, n, judged) * adjusted(c, 0.05) for c in range(n + 1))
    assert mean == pytest.approx(1 - 0.9**4)
    assert adjusted(5, 0.0) == pytest.approx(pass_at_k(n, 5, k))


def test_problems_that_only_false_positives_solve_are_not_distinguishable_from_unsolved() -> None:
    rng = np.random.default_rng(0)
    problems = [Counts(256, int(c)) for c in rng.binomial(256, 0.005, 60)]
    found = suspicion(problems, 128, 0.005, how=Resampling(draws=2000))
    assert found.observed == pytest.approx(found.unsolvable_reads, abs=0.12)
    assert found.adjusted.low == 0.0 and found.adjusted.value < 0.2


# pass@k against known vectors, exact fractions and its limits


@given(st.integers(1, 600), st.data())
@settings(deadline=None)
def test_agrees_with_exact_binomials(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(exact), abs=1e-12)


def test_fewer_samples_than_k_say_nothing() -> None:
    assert math.isnan(pass_at_k(3, 3, 4))
    assert math.isnan(pass_at_k(0, 0, 1))


@pytest.mark.parametrize(
    ("n", "c", "k"), [(3, 4, 1), (-1, 0, 1), (3, -1, 1), (3, 1, 0), (3, 1, -2)]
)
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"n=-?\d"):
        pass_at_k(n, c, k)


def test_ks_are_the_powers_of_two_and_the_wanted_ones() -> None:
    assert ks_up_to(12, [10, 13]) == (1, 2, 4, 8, 10)
    assert ks_up_to(16) == (1, 2, 4, 8, 16)
    assert ks_up_to(0) == ()


# Student's t, Fisher's test and the corrections, against known numbers and their guarantees


def test_the_t_distribution_gives_the_numbers_it_gave_before_scipy() -> None:
    tails = {
        (-8.0, 2): 0.9923659639173309,
        (0.3, 23): 0.38343589998964533,
        (2.5, 499): 0.006369609179023642,
        (12.0, 5): 3.54474625858076e-05,
    }
    for (t, df), expected in tails.items():
        assert t_tail(t, df) == pytest.approx(expected, rel=1e-9)
    quantiles = {(0.025, 23): 2.0686576104190477, (1e-5, 499): 4.3062427369086365}
    for (tail, df), expected in quantiles.items():
        assert t_quantile(tail, df) == pytest.approx(expected, rel=1e-9)
    expanded = {10: 0.008550639024406392, 40: 0.020257536362843942, 500: 0.024609072307323343}
    for values, expected in expanded.items():
        assert expanded_tail(0.025, values) == pytest.approx(expected, rel=1e-9)


def test_fishers_test_gives_the_numbers_it_gave_before_scipy() -> None:
    tables = {
        (0, 256, 8, 248): 0.007390700632491538,
        (12, 30, 25, 17): 0.007949896434306951,
        (3, 5, 0, 9): 0.08235294117647059,
    }
    for table, expected in tables.items():
        assert fisher_exact(*table) == pytest.approx(expected, rel=1e-9)


def test_false_discovery_control_takes_the_least_of_the_later_ones() -> None:
    expected = [0.04, 0.16 / 3, 0.16 / 3, 0.5]
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx(expected)
    assert benjamini_hochberg([]) == []


def test_without_scipy_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtraError, match=r"prorl\[eval\]"):
        t_tail(1.0, 3)
    with pytest.raises(MissingExtraError, match=r"prorl\[eval\]"):
        require_scipy()


def test_holm_multiplies_by_the_tests_that_are_left_and_skips_nan() -> None:
    found = holm([0.01, math.nan, 0.04, 0.03])
    assert found[0] == pytest.approx(0.03) and math.isnan(found[1])
    assert found[2:] == pytest.approx([0.06, 0.06])


def test_the_unexpanded_tail_is_the_expanded_ones_inverse() -> None:
    for values, strata in ((10, 1), (40, 4), (500, 5)):
        for tail in (0.4, 0.025, 0.001):
            found = unexpanded_tail(expanded_tail(tail, values, strata), values, strata)
            assert found == pytest.approx(tail, rel=1e-6)


def test_the_expanded_tail_widens_small_samples_and_not_large_ones() -> None:
    assert expanded_tail(0.025, 10) == pytest.approx(0.0085, abs=2e-4)
    assert expanded_tail(0.025, 100_000) == pytest.approx(0.025, abs=1e-4)
    assert expanded_tail(0.025, 1) == 0.025
    assert expanded_tail(0.025, 2) > 0.0
