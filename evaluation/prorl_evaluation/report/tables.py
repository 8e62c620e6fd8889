"""The report's tables and cards as HTML; every text that is not ours is escaped here.

Leaves out: figures (``report.figures``), the boundary's tables (``report.boundary``) and the page around
it all (``report``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from prorl_common import format_seconds
from prorl_evaluation.compare import Comparison, Difference
from prorl_evaluation.report.svg import sample, strip
from prorl_evaluation.report.text import number, percent, signed_range, text, with_range
from prorl_evaluation.report.words import metric_name
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.tables import TextTable, bracket, length_digits
from prorl_evaluation.types import EvalResult, GroupResult


def table(caption: str, head: Sequence[str], rows: Sequence[str]) -> str:
    """Return a table that scrolls sideways where it must; ``caption`` and ``head`` are text, ``rows`` HTML."""
    cells = "".join(f"<th scope='col'>{text(h)}</th>" for h in head)
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{text(caption)}'>"
        f"<table><caption>{text(caption)}</caption><thead><tr>{cells}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def text_table(shown: TextTable) -> str:
    """Return a plain table; the first column heads its row, or the rows that share it."""
    rows = []
    for name, own in itertools.groupby(shown.rows, key=lambda row: row[0]):
        block = list(own)
        for place, row in enumerate(block):
            scope = f"scope='rowgroup' rowspan='{len(block)}'" if len(block) > 1 else "scope='row'"
            head = f"<th {scope}>{text(name)}</th>" if place == 0 else ""
            cells = "".join(f"<td class='number'>{text(cell)}</td>" for cell in row[1:])
            first = " class='first'" if place == 0 and len(block) > 1 else ""
            rows.append(f"<tr{first}>{head}{cells}</tr>")
    return table(shown.title, shown.head, rows)


def folded(summary: str, inside: str, is_open: bool = False) -> str:
    """Return ``inside`` (HTML) under a line that opens and closes it; printing opens it."""
    return (
        f"<details{' open' if is_open else ''}><summary>{text(summary)}</summary>{inside}</details>"
    )


def results_table(
    results: Sequence[EvalResult], metrics: Sequence[str], comparison: Comparison | None
) -> str:
    """Return the main table: a block of rows a group, a row a metric, a column a result."""
    names = list(dict.fromkeys(g.name for r in results for g in r.groups))
    if len(names) == 2:
        names = names[:1]
    head = ["group", "metric", *(r.label for r in results)]
    head += ["difference", "", "reading"] if comparison else []
    differences = comparison.differences if comparison is not None else ()
    ends = strip_ends(d.interval for d in differences if d.metric in metrics)
    rows = []
    for name in names:
        groups = [r.group(name) for r in results]
        for place, metric in enumerate(metrics):
            cells = [_group_cell(name, groups, len(metrics))] if place == 0 else []
            cells.append(f"<td>{text(metric_name(metric))}</td>")
            cells += [f"<td class='number'>{_value(g, metric)}</td>" for g in groups]
            if comparison is not None:
                cells.append(_difference_cells(comparison.find(name, metric), ends))
            first = " class='first'" if place == 0 else ""
            rows.append(f"<tr{first}>{''.join(cells)}</tr>")
    return table("Means over problems, with intervals", head, rows)


def strip_ends(intervals: Iterable[Interval]) -> tuple[float, float]:
    """Return the scale that holds all ``intervals`` and 0."""
    known = [i for i in intervals if i.count]
    return min([-0.02, *(i.low for i in known)]), max([0.02, *(i.high for i in known)])


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


def _difference_cells(found: Difference | None, ends: tuple[float, float]) -> str:
    if found is None or found.interval.count == 0:
        return "<td class='number'>–</td><td></td><td>–</td>"
    i = found.interval
    word, _, rest = found.statement.partition(":")
    kind = word if found.distinguishable else "flat"
    shown = word if not word.startswith("only") else "too few problems"
    return (
        f"<td class='number'>{signed_range(i)}</td>"
        f"<td class='mark'>{strip((i.low, i.value, i.high), ends)}</td>"
        f"<td><span class='chip {text(kind)}' title='{text(rest.strip())}'>{text(shown)}</span></td>"
    )


def facts_table(
    caption: str, results: Sequence[EvalResult], facts: Mapping[str, Sequence[str]]
) -> str:
    """Return a table of one row a fact and one column a result; ``facts`` holds text."""
    rows = [
        f"<tr><th scope='row'>{text(name)}</th>"
        + "".join(f"<td class='fact'>{text(v)}</td>" for v in values)
        + "</tr>"
        for name, values in facts.items()
    ]
    return table(caption, ["", *(r.label for r in results)], rows)


def rates_table(results: Sequence[EvalResult]) -> TextTable:
    """Return what went wrong while sampling and scoring, by group and result; zeros are shown."""
    names = list(dict.fromkeys(g.name for r in results for g in r.groups))
    if len(names) == 2:
        names = names[:1]
    rows = []
    for name in names:
        for r in results:
            g = r.group(name)
            if g is None:
                continue
            infra = g.infra_errors / g.sampled if g.sampled else math.nan
            shares = (g.truncation_rate, g.unparsable_rate, g.timeout_rate)
            length = bracket(g.length, length_digits(g.length.value))
            bad = f"{percent(infra)} ({g.infra_errors:,})"
            rows.append((name, r.label, f"{g.sampled:,}", *map(percent, shares), bad, length))
    head = (
        *("group", "result", "samples", "cut at token limit", "no answer extracted"),
        *("verifier timeout", "infra error (left out)", "tokens an answer"),
    )
    return TextTable(
        "Shares of the samples, zeros too; infra errors also as a count", head, tuple(rows)
    )


def setting_facts(results: Sequence[EvalResult]) -> dict[str, list[str]]:
    """Return how each result was obtained."""
    facts: dict[str, list[str]] = {
        "model": [r.model_id for r in results],
        "weights (sha256)": [r.model_digest for r in results],
        "dataset": [r.settings.dataset.get("path", "–") for r in results],
        "dataset manifest (sha256)": [
            r.settings.dataset.get("manifest_sha256", "") or "–" for r in results
        ],
        "split": [r.settings.dataset.get("split", "–") for r in results],
        "problems": [str(len(r.problems)) for r in results],
        "protocol": [r.settings.protocol or "–" for r in results],
        "backend": [f"{r.settings.backend}, {r.settings.batches} batches" for r in results],
        "samples a problem (n)": [str(r.settings.n) for r in results],
        "largest k asked for": [str(r.settings.k) for r in results],
        "temperature": [str(r.settings.temperature) for r in results],
        "top-p": [str(r.settings.top_p) for r in results],
        "token limit": [str(r.settings.max_tokens) for r in results],
        "more request fields": [
            ", ".join(f"{k}={v}" for k, v in r.settings.extra.items()) or "–" for r in results
        ],
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
                f"{text(found.reason)}</span><pre dir='auto'>{text(found.response) or '(empty)'}</pre></div>"
            )
        cards.append(
            f"<div class='example'><h3>{text(example.domain)} · {text(example.id)}</h3>"
            f"<span class='caption'>prompt</span><pre dir='auto'>{text(example.prompt)}</pre>"
            f"<div class='answers'>{''.join(answers)}</div></div>"
        )
    return "".join(cards)


def legend(entries: Sequence[tuple[int, str]]) -> str:
    """Return a legend of (place, label): each with its line, dash and marker."""
    spans = "".join(f"<span>{sample(place)}{text(label)}</span>" for place, label in entries)
    return f"<div class='legend'>{spans}</div>"


def panels(figures: Sequence[tuple[str, str]]) -> str:
    """Return panels (title, SVG) beside and below each other as the page has room."""
    shown = "".join(
        f"<figure><figcaption>{text(title)}</figcaption>{svg}</figure>" for title, svg in figures
    )
    return f"<div class='panels'>{shown}</div>"
