"""Writes the sentences of a report; the caller must escape them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from prorl_common import prorl_command
from prorl_evaluation.boundary.types import BoundaryReport, Claim, GainAgainstBase, Kind, Regime
from prorl_evaluation.compare import Comparison, setting_warnings
from prorl_evaluation.report.data import ReportData
from prorl_evaluation.tables import near_n_lines, undefined_lines, unpaired_lines
from prorl_evaluation.types import BEFORE_RL, EvalResult, shown_ks

MEANING: Mapping[Regime, str] = {
    "sustained": "The reasoning boundary moved: pass@K rose, so problems are solved that the baseline did not solve in "
    "K tries. If there is a previous checkpoint, pass@K also rose since that checkpoint; ProRL calls this sustained "
    "gains.",
    "plateau": "The boundary moved early in training and then stayed: pass@K rose, but later training changed it "
    "by less than the margin. ProRL calls this plateau.",
    "sharpened only": "Single tries succeed more often, but K tries solve as many problems as before, within the margin: "
    "the model is more consistent, and the boundary did not move. In ProRL, this is part of diminish, which includes "
    "unchanged and declining boundaries.",
    "fell": "Some problems that the baseline solves in K tries are no longer solved. ProRL calls this diminish if pass@1 "
    "rose, but also uses that word for an unchanged pass@K.",
    "undecided": "None of the four claims is shown with this number of problems and samples. This does not mean that "
    "nothing changed.",
}
"""Explains each claim, with ProRL's term for it (arXiv 2505.24864, section 4)."""


def number(value: float, digits: int = 3) -> str:
    return "–" if not math.isfinite(value) else f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    return "–" if not math.isfinite(value) else f"{value:+.{digits}f}"


def p_value(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def metric_name(metric: str) -> str:
    return "mean reward" if metric == "reward" else metric


def headline_metrics(results: Sequence[EvalResult]) -> list[str]:
    return [*(f"pass@{k}" for k in shown_ks(results)), "reward"]


def nothing_solved(results: Sequence[EvalResult]) -> bool:
    return all(r.overall.reward.value == 0 for r in results)


def headline(results: Sequence[EvalResult], comparison: Comparison | None) -> list[str]:
    """Return the main finding, then each metric with its interval."""
    if nothing_solved(results):
        samples = sum(r.overall.sampled for r in results)
        labels = ", ".join(r.label for r in results)
        return [
            f"Nothing solved: none of {samples:,} answers earned a reward",
            f"{labels}: pass@k is 0 for every k, so there is no curve, difference or boundary to show",
            "Below are some answers, and how many were cut off or could not be read. What helps: "
            + "easier problems, more tokens (sampling.max_tokens), more samples (--n)",
        ]
    lines = [] if comparison is None else [comparison.headline(results[-1].settings.k)]
    for metric in headline_metrics(results):
        name = metric_name(metric)
        compared = comparison.find("overall", metric) if comparison is not None else None
        if compared is None:
            i = results[-1].overall.metric(metric)
            assert i is not None  # shown_ks lists only k that every result estimates
            lines.append(f"{name} {number(i.value)} [{number(i.low)}, {number(i.high)}]")
            continue
        i = compared.interval
        change = f"{name} {number(compared.a)} → {number(compared.b)}"
        over = f" over {i.count} of {i.count + i.undefined} problems" if i.undefined else ""
        difference = f"difference {signed(i.value)} [{signed(i.low)}, {signed(i.high)}]{over}"
        if compared.distinguishable:
            lines.append(f"{change}, {difference}")
        elif compared.statement.startswith("not"):
            lines.append(f"{change}: not distinguishable ({difference})")
        else:
            lines.append(f"{change}: {compared.statement} ({difference})")
    return lines


def correlation(gain: GainAgainstBase) -> str:
    c = gain.correlation
    if not c.count:
        return "too few groups, or no spread, for a correlation"
    return (
        f"rank correlation {signed(c.value, 2)} [{signed(c.low, 2)}, {signed(c.high, 2)}] over "
        f"{c.count} groups"
    )


def lead(data: ReportData) -> str:
    c = data.comparison
    s = data.results[-1].settings
    labels = data.results[-1].label if c is None else f"{c.b} against {c.a}"
    count = c.paired if c is not None else len(data.results[-1].problems)
    return (
        f"{labels}, {count} {'paired ' if c else ''}problems, {s.n} samples each at "
        f"temperature {s.temperature:g}, top-p {s.top_p:g}. Brackets are {100 * s.level:g}% intervals."
    )


def verdict(report: BoundaryReport) -> list[str]:
    """Return a sentence for each claim on all problems, and one that counts the claims of each kind of group."""
    lines = [_claimed(report, claim) for claim in report.groups[0].claims]
    for kind in get_args(Kind):
        regimes = [g.claims[-1].regime for g in report.groups if g.kind == kind]
        if regimes and kind != "overall":
            counts = Counter(regimes)
            listed = ", ".join(f"{counts[r]} {r}" for r in get_args(Regime) if counts[r])
            lines.append(f"Of {len(regimes)} {kind}{'s' if len(regimes) > 1 else ''}: {listed}")
    return lines


def in_short(data: ReportData) -> list[str]:
    """Return a list with one sentence, the last checkpoint's claim over all problems, or [] if there is none."""
    report = data.boundary
    return (
        []
        if report is None or nothing_solved(data.results)
        else [_claimed(report, c) for c in report.groups[0].claims[-1:]]
    )


def _claimed(report: BoundaryReport, claim: Claim) -> str:
    p_text = p_value(claim.p_corrected)
    p = "" if claim.regime == "undecided" else f" (corrected p {p_text})"
    return f"Boundary at pass@{report.k}, {claim.checkpoint}: {claim.regime}, {claim.reason}{p}"


def caveats(data: ReportData) -> list[str]:
    comparison = data.comparison
    lines: list[str] = []
    if comparison is not None:
        base, *later = data.results[data.base :]
        for r in later:
            who = f"{r.label}: " if len(later) > 1 else ""
            lines += [f"{who}{line}" for line in setting_warnings(base, r)]
        lines += unpaired_lines(comparison)
    warm = next((d for d in data.decisions if d.get("kind") == "warm_start"), None)
    if warm is not None and comparison is not None and not comparison.a.endswith(BEFORE_RL):
        lines.append(
            f"the run began with supervised steps before RL ({warm.get('reason', 'warm start')}): a "
            "difference from the untrained model includes their effect"
        )
    lines += [*near_n_lines(data.results), *undefined_lines(data.results)]
    if data.boundary is not None:
        lines += [*data.boundary.near_n, *data.boundary.warnings]
    for r in data.results:
        g = r.overall
        if g.infra_errors:
            lines.append(
                f"{r.label}: {g.infra_errors} of {g.sampled} samples have no verdict (infra error) and are "
                "left out; run the same command to sample them again"
            )
        for value, words in (
            (g.truncation_rate, "of the answers were cut at the token limit"),
            (g.unparsable_rate, "of the answers gave no extractable answer"),
            (g.timeout_rate, "of the answers exceeded the verifier's time limit"),
        ):
            if value > 0.05:
                lines.append(f"{r.label}: {100 * value:.0f}% {words}")
        if any("weak" in level for level in r.isolation):
            lines.append(f"{r.label}: untrusted code ran without full isolation")
        if len(r.problems) < 20:
            lines.append(f"{r.label}: {len(r.problems)} problems say little about similar problems")
    return list(dict.fromkeys(lines))


def decision_rule(report: BoundaryReport) -> str:
    return (
        f"K is {report.k}. Fell: pass@K fell. Sustained: pass@K rose, also since the previous checkpoint if there "
        f"is one. Plateau: pass@K rose, but changed by less than {report.margin:g} since the previous checkpoint. "
        f"Sharpened only: pass@1 rose while pass@K changed by less than {report.margin:g}. "
        "Each statement of a claim has a one-sided test (Student's t on the paired "
        "differences), and the claim's p-value is the largest of them. Holm's correction over all "
        f"{report.hypotheses} candidate claims keeps the chance of any false claim below {report.alpha:g} if "
        "the p-values are right. They can miss rare losses that these problems do not show. If "
        "several claims hold, the first is reported, in the order fell, sustained, plateau, sharpened only. "
        "Undecided: no claim is shown, which does not mean that nothing changed. Groups of fewer than "
        "10 problems are not tested."
    )


def method(data: ReportData) -> list[str]:
    s = data.results[0].settings
    return [
        (
            "pass@k is the unbiased estimate 1 - C(n-c, k) / C(n, k) of Chen et al. 2021 for each problem, "
            "averaged over problems. A sample counts as solved only with reward 1 (at least 1 - 1e-9). "
            "Partial credit counts in the mean reward."
        ),
        (
            f"Intervals are {100 * s.level:g}% intervals over problems ({s.draws:,} draws), stratified by "
            "domain for the overall row. They are a Bayesian bootstrap with half a problem at each bound, or for lengths "
            "the expanded percentile bootstrap. Differences are paired by problem. Intervals for these very problems "
            "contain only the randomness of the samples, not of the choice of problems. Wrong, unparsable and "
            "timed-out answers have reward 0; infra errors are counted, but not in n. A problem with "
            "fewer than k scored samples has no pass@k and counts as undefined. 'No spread' marks an "
            "interval of zero width, which does not mean certainty."
        ),
        (
            "The intervals are not corrected for their number: without any true change, one of twenty is expected "
            "to exclude 0. Only the boundary claims are corrected for their number."
        ),
        "Chance is the mean reward of the best constant answer, if the dataset states it.",
    ]


SUITE_OPTIONS = {"model.path": "model", "data.limit": "limit", "sampling.n": "n"}
"""Settings that have an option of ``prorl eval run``; all others are given with ``--set``."""
PASS_AT_K_OPTIONS = SUITE_OPTIONS | {
    "data.dataset": "dataset",
    "data.split": "split",
    "sampling.k": "k",
}


def commands(data: ReportData) -> list[str]:
    from prorl_evaluation.suites.suite import suite_names

    lines = []
    for r in data.results:
        s = r.settings
        backend, _, api = s.backend.partition(":")
        served = backend == "server"
        settings: Mapping[str, Any] = {
            "model.path": None if served else r.model_id,
            "server.url": "URL" if served else None,
            "server.model": r.model_id if served else None,
            "server.api": api,
            "data.dataset": s.dataset.get("path"),
            "data.split": s.dataset.get("split"),
            "data.limit": s.dataset.get("limit"),
            "sampling.k": s.k,
            "sampling.n": s.n,
            "sampling.temperature": f"{s.temperature:g}",
            "sampling.top_p": f"{s.top_p:g}",
            "sampling.max_tokens": s.max_tokens,
            "sampling.turns": s.turns if s.turn_limit else None,
            "sampling.seed": s.seed,
            "model.batches": s.batches
            if s.backend == "transformers" and s.batches != "fixed"
            else None,
            "model.backend": None if served or backend == "transformers" else backend,
        }
        words: list[object] = ["eval", "pass-at-k"]
        options = PASS_AT_K_OPTIONS
        suite, slash, benchmark = str(s.dataset.get("path", "")).partition("/")
        if slash and suite in suite_names():
            words = ["eval", "run", "--suite", suite]
            words += ["--benchmarks", benchmark] if benchmark else []
            options = SUITE_OPTIONS
            without = ("data.dataset", "data.split", "sampling.k")
            settings = {key: v for key, v in settings.items() if key not in without}
        for key, value in settings.items():
            if value not in (None, ""):
                words += (
                    [f"--{options[key]}", value] if key in options else ["--set", f"{key}={value}"]
                )
        lines.append(prorl_command(*words))
    if data.options.command:
        lines.append(data.options.command)
    return list(dict.fromkeys(lines))
