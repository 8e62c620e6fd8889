"""A table of models as rows of text and as Markdown. Leaves out: the numbers (``table``)."""

from __future__ import annotations

from prorl_common.markup import md
from prorl_evaluation.model_table.table import ModelTable, TableDifference, Value
from prorl_evaluation.tables import TextTable, signed_bracket

UP, DOWN = "↑", "↓"


def value_table(table: ModelTable) -> TextTable:
    """Return a row a model and metric, a column a group; a cell has the value, its mark and both intervals."""
    rows = []
    for label in table.labels:
        for metric in table.metrics:
            cells = []
            for group in table.groups:
                key = (label, group.name, metric)
                cells.append(_cell(table, table.value(*key), table.difference(*key)))
            rows.append((label, metric, *cells))
    head = ("", "", *(f"{g.name} ({g.problems})" for g in table.groups))
    title = f"pass@k of {len(table.labels)} models, baseline {table.labels[0]}, {100 * table.level:g}% intervals"
    return TextTable(title, head, tuple(rows))


def claims_table(table: ModelTable) -> TextTable:
    """Return a row for each difference that is claimed."""
    rows = tuple(
        (
            d.model,
            d.group,
            d.metric,
            signed_bracket(d.population),
            f"{{{d.fixed.low:+.3f}, {d.fixed.high:+.3f}}}",
            "< 1e-6" if d.p_corrected < 1e-6 else f"{d.p_corrected:.2g}",
            d.claim(table.alpha),
        )
        for d in table.claimed
    )
    head = ("", "", "", "difference", "these very problems", "corrected p", "claim")
    return TextTable(f"Claimed against {table.labels[0]}", head, rows)


def below(table: ModelTable) -> list[str]:
    """Return the lines that say what the table means and what stands in the way."""
    alone = sum(
        not d.claim(table.alpha) and (d.population.low > 0 or d.population.high < 0)
        for d in table.differences
    )
    lines = [
        "[ ] is about problems like these, { } about these very problems sampled again",
        (
            f"{UP} {DOWN} claimed against {table.labels[0]}: {len(table.claimed)} of {table.tests} differences, corrected "
            f"together (Holm): the chance of any false one in the table is at most {100 * table.alpha:g}%"
        ),
    ]
    if alone:
        lines.append(
            f"{alone} more {'interval excludes' if alone == 1 else 'intervals exclude'} 0 alone and "
            "would not stand in a table of this size"
        )
    if untested := len(table.differences) - table.tests:
        lines.append(f"{untested} differences are not tested: too few problems")
    return [*lines, *table.notes]


def table_markdown(table: ModelTable) -> str:
    """Return the table, its claims and the lines below as Markdown."""
    parts = []
    for drawn in (value_table(table), claims_table(table)):
        if not drawn.rows:
            continue
        rows = [drawn.head, ("---",) * len(drawn.head), *drawn.rows]
        lines = [
            "| " + " | ".join(c if i == 1 else md(c).replace("\n", " ") for c in row) + " |"
            for i, row in enumerate(rows)
        ]
        parts.append("\n".join([f"### {md(drawn.title)}", "", *lines]))
    parts.append("\n".join(f"- {md(line)}" for line in below(table)))
    return "\n\n".join(parts) + "\n"


def _cell(table: ModelTable, value: Value, difference: TableDifference | None) -> str:
    i, fixed = value.population, value.fixed
    if i.count == 0:
        return "-"
    claim = difference.claim(table.alpha) if difference is not None else ""
    mark = {"higher": UP, "lower": DOWN, "": ""}[claim]
    text = f"{i.value:.3f}{mark}{i.part}\n[{i.low:.3f}, {i.high:.3f}]"
    return f"{text}\n{{{fixed.low:.3f}, {fixed.high:.3f}}}" if fixed.count else text
