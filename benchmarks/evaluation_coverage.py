"""How often do the evaluation's 95% intervals hold the truth? A seeded simulation with known answers.

    python benchmarks/evaluation_coverage.py [--trials 1000] [--json FILE] [--kinds paired null ...]

Each setting draws problems from a population of success rates, samples from each problem, and asks whether
the interval over problems holds the population's mean. Compared with the plain percentile bootstrap over
problems. Also how often a one-sided test of the true change rejects it at 2.5% (the worse of both sides).
Leaves out: real models.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import derive_seed
from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.stats.bootstrap import bootstrap_columns, expanded_columns
from prorl_evaluation.stats.bounded_mean import Units, bounded_columns, paired_columns
from prorl_evaluation.stats.intervals import Interval, Resampling
from prorl_evaluation.stats.paired import one_sided

Floats = NDArray[np.float64]
DRAWS = 2000
POPULATION = 400_000
NOMINAL = 0.95


@dataclass(frozen=True)
class Setting:
    """Success rates are Beta(``a``, ``b``) over problems; ``shift`` is the second model's change in log
    odds, with a spread of 1 between problems. ``groups`` > 0 clusters or strata share problems. Of kind
    ``null`` no rate changes; of kind ``rare``, ``a`` is the share of problems that is lost."""

    kind: str
    a: float
    b: float
    problems: int
    n: int = 16
    k: int = 1
    shift: float = 0.0
    groups: int = 0


@dataclass(frozen=True)
class Row:
    """One setting's outcome; ``plain`` is the percentile bootstrap, ``rejected`` a test's error rate."""

    setting: Setting
    truth: float
    coverage: float
    plain: float
    width: float
    rejected: float | None


def settings() -> list[Setting]:
    """Return the settings: means near 0.02, 0.2, 0.5 and 0.98, 24 to 500 problems, k of 1, 8 and 128."""
    shapes = [(0.05, 2.45), (0.3, 1.2), (0.5, 0.5), (2.45, 0.05)]
    sizes = (24, 100, 500)
    found = [Setting("level", a, b, size) for a, b in shapes for size in sizes]
    found += [
        Setting("level", a, b, size, n, k)
        for a, b in shapes[:3]
        for size in sizes
        for n, k in ((16, 8), (256, 128))
    ]
    found += [
        Setting("paired", a, b, size, n, k, shift)
        for a, b in shapes[:3]
        for size in sizes
        for n, k, shift in ((16, 1, 0.0), (16, 8, 1.0), (256, 128, 1.0))
    ]
    found += [Setting("null", a, b, size) for a, b in shapes[:3] for size in (24, 40, 100)]
    found += [
        Setting("strata", 0.3, 1.2, 60, groups=5),
        Setting("strata", 0.05, 2.45, 60, groups=5),
    ]
    found += [
        Setting("clusters", 0.3, 1.2, 300, groups=30),
        Setting("clusters", 0.5, 0.5, 500, groups=96),
    ]
    found += [
        Setting("rare", lost, 0.0, size) for size, lost in ((60, 0.03), (100, 0.02), (500, 0.005))
    ]
    return [*found, *(Setting("length", 1.0, 1.0, size) for size in sizes)]


def run(setting: Setting, trials: int) -> Row:
    """Simulate one setting."""
    rng = np.random.default_rng(derive_seed(0, "coverage", repr(setting)))
    make: dict[str, Callable[..., tuple[Floats, float, Units]]] = {
        "level": _level,
        "strata": _strata,
        "clusters": _clusters,
        "paired": _paired,
        "null": _null,
        "rare": _rare,
        "length": _length,
    }
    rows, truth, units = make[setting.kind](setting, trials, rng)
    how = Resampling(NOMINAL, DRAWS, 1)
    rejected = None
    if setting.kind in ("paired", "null", "rare"):
        found, drawn = paired_columns(rows, units, how)
        tests = np.array([one_sided(drawn, j, truth) for j in range(trials)])
        rejected = float((tests <= 0.025).mean(axis=0).max())
    elif setting.kind == "length":
        found = expanded_columns(rows, units.clusters, units.strata, how)
    else:
        found = bounded_columns(rows, (0.0, 1.0), units, how)
    plain = bootstrap_columns(rows, units.clusters, units.strata, NOMINAL, DRAWS, 1)
    width = float(np.mean([i.high - i.low for i in found]))
    return Row(setting, truth, _share(found, truth), _share(plain, truth), width, rejected)


def _share(found: Sequence[Interval], truth: float) -> float:
    return sum(i.low <= truth <= i.high for i in found) / len(found)


def _estimates(rates: Floats, s: Setting, rng: np.random.Generator) -> Floats:
    table = np.array([pass_at_k(s.n, c, s.k) for c in range(s.n + 1)])
    return np.asarray(table[rng.binomial(s.n, rates)], dtype=np.float64)


def _any_of_k(a: float, b: float, k: int) -> float:
    """Return the mean of 1 - (1 - p)^k over Beta(a, b): 1 - B(a, b + k) / B(a, b)."""
    logs = math.lgamma(b + k) - math.lgamma(a + b + k) - math.lgamma(b) + math.lgamma(a + b)
    return 1.0 - math.exp(logs)


def _level(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    rates = rng.beta(s.a, s.b, (s.problems, trials))
    return _estimates(rates, s, rng), _any_of_k(s.a, s.b, s.k), Units()


def _strata(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    """Strata of equal size; the rates of stratum g are multiplied by (g + 1) / groups."""
    own = [i % s.groups for i in range(s.problems)]
    scale = np.array([(g + 1) / s.groups for g in own])
    rates = rng.beta(s.a, s.b, (s.problems, trials)) * scale[:, None]
    return _estimates(rates, s, rng), s.a / (s.a + s.b) * float(scale.mean()), Units(strata=own)


def _clusters(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    """Problems of one cluster scatter around its mean, which is Beta(a, b)."""
    own = [i % s.groups for i in range(s.problems)]
    centre = rng.beta(s.a, s.b, (s.groups, trials))[own]
    rates = rng.beta(4 * centre + 1e-9, 4 * (1 - centre) + 1e-9)
    return _estimates(rates, s, rng), s.a / (s.a + s.b), Units(clusters=own)


def _paired(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    def later(rates: Floats) -> Floats:
        safe = np.clip(rates, 1e-12, 1 - 1e-12)
        odds = np.log(safe / (1 - safe)) + s.shift + rng.standard_normal(safe.shape)
        return np.asarray(1 / (1 + np.exp(-odds)))

    before = rng.beta(s.a, s.b, (s.problems, trials))
    after = later(before)
    many = rng.beta(s.a, s.b, POPULATION)
    truth = float(np.mean((1 - many) ** s.k - (1 - later(many)) ** s.k))
    return _estimates(after, s, rng) - _estimates(before, s, rng), truth, Units()


def _null(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    rates = rng.beta(s.a, s.b, (s.problems, trials))
    return _estimates(rates, s, rng) - _estimates(rates, s, rng), 0.0, Units()


def _rare(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    """A share ``a`` of the problems is lost wholly, all others gain a little: no change on average."""
    gain = s.a / (1.0 - s.a)
    lost = rng.random((s.problems, trials)) < s.a
    noise = rng.normal(0.0, gain / 4, (s.problems, trials))
    return np.where(lost, -1.0, gain + noise), 0.0, Units()


def _length(s: Setting, trials: int, rng: np.random.Generator) -> tuple[Floats, float, Units]:
    """Mean lengths of problems are log-normal around 400 tokens with sigma 0.7."""
    found = rng.lognormal(math.log(400), 0.7, (s.problems, trials))
    return found, 400 * math.exp(0.7**2 / 2), Units()


def main() -> None:
    """Run all settings, print a table, and write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--kinds", nargs="*", help="only these; others keep their rows in --json")
    options = parser.parse_args()
    started, rows = time.perf_counter(), []
    before: list[dict[str, Any]] = []
    if options.kinds and options.json and options.json.is_file():
        before = json.loads(options.json.read_text())["rows"]
    print(
        "kind      rates           problems   n    k  shift   truth  covered  plain   width  rejected"
    )
    for setting in settings():
        if options.kinds and setting.kind not in options.kinds:
            continue
        row = run(setting, options.trials)
        rows.append(row)
        s = row.setting
        known = {"length": "log-normal", "rare": f"{100 * s.a:g}% lost"}
        rates = known.get(s.kind, f"Beta({s.a:g}, {s.b:g})")
        test = "" if row.rejected is None else f"{100 * row.rejected:.1f}%"
        print(
            f"{s.kind:9} {rates:15} {s.problems:8} {s.n:4} {s.k:4} {s.shift:5g} {row.truth:9.3f} "
            f"{100 * row.coverage:6.1f}% {100 * row.plain:6.1f}% {row.width:8.3f} {test:>6}",
            flush=True,
        )
    inside = sum(0.93 <= r.coverage <= 0.97 for r in rows)
    print(f"{inside} of {len(rows)} within 93-97%; {time.perf_counter() - started:.0f} s")
    if options.json:
        value: dict[str, Any] = {"trials": options.trials, "nominal": NOMINAL, "draws": DRAWS}
        made = [dataclasses.asdict(r) for r in rows]
        kept = [r for r in before if r["setting"]["kind"] not in options.kinds]
        value["rows"] = [*kept, *made]
        options.json.write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
