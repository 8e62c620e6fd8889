"""The report's tables and cards as HTML; every text that is not ours is escaped here.

Leaves out: figures (``report_figures``) and the page around it all (``report``).
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from prorl_common import format_seconds
from prorl_evaluation.bootstrap import Interval
from prorl_evaluation.compare import Comparison, Difference
from prorl_evaluation.types import EvalResult, GroupResult


def text(value: object) -> str:
    """Return ``value`` as text that is safe in HTML; characters that no page may hold become U+FFFD."""
    raw = str(value).encode("utf-8", "replace").decode("utf-8")
    shown = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in raw)
    return html.escape(shown, quote=True)


def number(value: float, digits: int = 3) -> str:
    """Return a number, or a dash when it is not one; a minus sign where a minus is."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float) -> str:
    """Return a difference with its sign."""
    return "–" if not math.isfinite(value) else f"{value:+.3f}".replace("-", "−")


def percent(value: float) -> str:
    """Return a share as a percentage."""
    return "–" if not math.isfinite(value) else f"{100 * value:.1f}%"


def table(head: Sequence[str], rows: Sequence[str]) -> str:
    """Return a table that scrolls sideways where it must; ``head`` is text, ``rows`` are HTML."""
    cells = "".join(f"<th scope='col'>{text(h)}</th>" for h in head)
    return (
        f"<div class='scroll'><table><thead><tr>{cells}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def with_range(interval: Interval, digits: int = 3) -> str:
    """Return value and interval for a table cell; an interval without spread says so."""
    if interval.count == 0:
        return "–"
    value = number(interval.value, digits)
    if interval.degenerate:
        return f"{value}<span class='range'>[no spread]</span>"
    bounds = f"[{number(interval.low, digits)}, {number(interval.high, digits)}]"
    missing = f" ({interval.undefined} undefined)" if interval.undefined else ""
    return f"{value}<span class='range'>{bounds}{missing}</span>"


def results_table(
    results: Sequence[EvalResult], metrics: Sequence[str], comparison: Comparison | None
) -> str:
    """Return the main table: a block of rows a group, a row a metric, a column a result."""
    names = list(dict.fromkeys(g.name for r in results for g in r.groups))
    if len(names) == 2:
        names = names[:1]
    head = ["", "metric", *(r.label for r in results)]
    head += ["difference", "reading"] if comparison else []
    rows = []
    for name in names:
        groups = [r.group(name) for r in results]
        for place, metric in enumerate(metrics):
            cells = [_group_cell(name, groups, len(metrics))] if place == 0 else []
            cells.append(f"<td>{text(metric_name(metric))}</td>")
            cells += [f"<td class='number'>{_value(g, metric)}</td>" for g in groups]
            if comparison is not None:
                cells.append(_difference_cells(comparison.find(name, metric)))
            first = " class='first'" if place == 0 else ""
            rows.append(f"<tr{first}>{''.join(cells)}</tr>")
    return table(head, rows)


def metric_name(metric: str) -> str:
    """Return how a metric is called in the report."""
    return "mean reward" if metric == "reward" else metric


def _group_cell(name: str, groups: Sequence[GroupResult | None], height: int) -> str:
    known = [g for g in groups if g is not None]
    problems = max((g.problems for g in known), default=0)
    chance = next((g.chance for g in known if math.isfinite(g.chance)), math.nan)
    notes = f"{problems} problem{'' if problems == 1 else 's'}"
    if math.isfinite(chance):
        notes += f"<br>chance {number(chance)}"
    return f"<th scope='rowgroup' rowspan='{height}'>{text(name)}<small>{notes}</small></th>"


def _value(group: GroupResult | None, metric: str) -> str:
    if group is None:
        return "–"
    if metric == "reward":
        return with_range(group.reward)
    interval = group.pass_at_k.get(int(metric.removeprefix("pass@")))
    return "–" if interval is None else with_range(interval)


def _difference_cells(found: Difference | None) -> str:
    if found is None or found.interval.count == 0:
        return "<td class='number'>–</td><td>–</td>"
    i = found.interval
    bounds = f"<span class='range'>[{signed(i.low)}, {signed(i.high)}]</span>"
    word, _, rest = found.statement.partition(":")
    kind = word if found.distinguishable else "flat"
    shown = word if not word.startswith("only") else "too few problems"
    return (
        f"<td class='number'>{signed(i.value)}{bounds}</td>"
        f"<td><span class='chip {text(kind)}' title='{text(rest.strip())}'>{text(shown)}</span></td>"
    )


def facts_table(results: Sequence[EvalResult], facts: Mapping[str, Sequence[str]]) -> str:
    """Return a table of one row a fact and one column a result; ``facts`` holds text."""
    rows = [
        f"<tr><th scope='row'>{text(name)}</th>"
        + "".join(f"<td class='number'>{text(v)}</td>" for v in values)
        + "</tr>"
        for name, values in facts.items()
    ]
    return table(["", *(r.label for r in results)], rows)


def rate_facts(results: Sequence[EvalResult]) -> dict[str, list[str]]:
    """Return what went wrong while sampling and scoring, by result."""
    groups = [r.overall for r in results]
    return {
        "samples": [f"{g.sampled:,}" for g in groups],
        "cut at the token limit": [percent(g.truncation_rate) for g in groups],
        "no answer found (unparsable)": [percent(g.unparsable_rate) for g in groups],
        "verifier timeouts": [percent(g.timeout_rate) for g in groups],
        "infra errors (left out)": [str(g.infra_errors) for g in groups],
        "mean length in tokens": [
            f"{number(g.length.value, 1)} [{number(g.length.low, 1)}, {number(g.length.high, 1)}]"
            for g in groups
        ],
    }


def setting_facts(results: Sequence[EvalResult]) -> dict[str, list[str]]:
    """Return how each result was obtained."""
    facts: dict[str, list[str]] = {
        "model": [r.model_id for r in results],
        "weights (sha256)": [r.model_digest[:16] for r in results],
        "dataset": [r.settings.dataset.get("path", "–") for r in results],
        "dataset manifest (sha256)": [
            r.settings.dataset.get("manifest_sha256", "–")[:16] or "–" for r in results
        ],
        "split": [r.settings.dataset.get("split", "–") for r in results],
        "problems": [str(len(r.problems)) for r in results],
        "samples a problem (n)": [str(r.settings.n) for r in results],
        "largest k asked for": [str(r.settings.k) for r in results],
        "temperature": [str(r.settings.temperature) for r in results],
        "top-p": [str(r.settings.top_p) for r in results],
        "token limit": [str(r.settings.max_tokens) for r in results],
        "seed": [str(r.settings.seed) for r in results],
        "isolation of verifiers": [", ".join(r.isolation) or "–" for r in results],
        "generated tokens": [f"{r.tokens:,}" for r in results],
        "sampling time": [format_seconds(r.sampling_seconds) for r in results],
        "evaluated": [r.created for r in results],
    }
    for name in dict.fromkeys(v for r in results for v in r.versions):
        facts[name] = [r.versions.get(name, "–") for r in results]
    return facts


def example_cards(results: Sequence[EvalResult]) -> str:
    """Return a card a problem with every result's first answer to it."""
    cards = []
    for example in results[0].examples:
        answers = []
        for result in results:
            found = next((e for e in result.examples if e.id == example.id), None)
            if found is None:
                continue
            reward = "no reward" if found.reward is None else f"reward {found.reward:.2f}"
            answers.append(
                f"<div><strong>{text(result.label)}</strong> "
                f"<span class='caption'>{text(reward)} · {text(found.status)} · "
                f"{text(found.reason)}</span><pre>{text(found.response) or '(empty)'}</pre></div>"
            )
        cards.append(
            f"<div class='example'><h3>{text(example.domain)} · {text(example.id)}</h3>"
            f"<span class='caption'>prompt</span><pre>{text(example.prompt)}</pre>"
            f"<div class='answers' style='margin-top:.8rem'>{''.join(answers)}</div></div>"
        )
    return "".join(cards)
