"""The report as one HTML file that holds everything, reads in light and dark, and prints.

No script, nothing fetched. The page's text stands in ``templates/``; what a template shows is escaped, only
figures are markup already, and the whole page goes through ``printable``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from prorl_common import MissingExtraError, atomic_write_text, svg
from prorl_common.markup import printable
from prorl_evaluation.boundary.tables import posterior_table, suspicion_table
from prorl_evaluation.boundary.types import Regime
from prorl_evaluation.report import figures, tables, text, words
from prorl_evaluation.report.data import ReportData, ReportOptions, report_data
from prorl_evaluation.report.training import MAX_POINTS, training_curves
from prorl_evaluation.tables import doubt_table
from prorl_evaluation.types import EvalResult

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
FOLD_ABOVE = 12
"""More tasks than this are folded away until opened."""
MOST_IDS = 500
"""Ids shown of one set; the JSON has all of them."""
SYMBOLS: Mapping[Regime, str] = {
    "sustained": "▲",
    "plateau": "▬",
    "sharpened only": "◆",
    "fell": "▼",
    "undecided": "?",
}


def write_report(
    results: Sequence[EvalResult],
    run_dir: Path | None,
    out: Path,
    options: ReportOptions | None = None,
) -> Path:
    """Write the report on ``results`` (baseline first) and the run's training curves to ``out``.

    ``run_dir`` is a run's folder or None; absent journals and keys leave their part out. Returns ``out``.
    Raises EvaluationError as ``report_data`` does, otherwise as ``write_html``.
    """
    return write_html(report_data(results, run_dir, options), out)


def write_html(data: ReportData, out: Path) -> Path:
    """Write the page that shows ``data``; return ``out``.

    Raises UserError when it cannot be written, MissingExtraError without Jinja2.
    """
    atomic_write_text(out, page(data))
    return out


def page(data: ReportData) -> str:
    """Return the page. Raises MissingExtraError without Jinja2."""
    coarse, fine = tables.by_size(data.groups)
    metrics = words.headline_metrics(data.results)
    template = _environment().get_template("page.html.j2")
    rendered = template.render(
        data=data,
        report=data.boundary,
        comparison=data.comparison,
        css=style_sheet(len(data.results)),
        coarse=coarse,
        fine=fine,
        fewest=min(r.settings.n for r in data.results),
        blocks=tables.group_rows(data.results, metrics, data.comparison),
        training=training_curves(data.metrics, data.decisions),
    )
    return printable(rendered)


def style_sheet(results: int) -> str:
    """Return the page's CSS, with a colour and a dash for each of ``results`` results."""
    series = max(results, 3)  # training curves draw on the second and third
    light, dark = (
        " ".join(f"--{name}: {value};" for name, value in svg.variables(series, is_dark).items())
        for is_dark in (False, True)
    )
    return (
        f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ {light} }} }}\n{svg.rules(series)}"
        + (TEMPLATES / "style.css").read_text(encoding="utf-8")
    )


@functools.cache
def _environment() -> Environment:
    """Return the templates with everything they call."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtraError("report", "jinja2") from error

    def drawn(figure: Callable[..., str]) -> Callable[..., Markup]:
        return lambda *given: Markup(figure(*given))

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pictures = (
        figures.curves_panel,
        figures.rates_panel,
        figures.gain_panel,
        figures.ladder_panel,
        figures.training_panel,
        figures.interval_strip,
        figures.series_key,
    )
    environment.globals.update(
        {f.__name__: drawn(f) for f in pictures},
        training_legend=[(Markup(key), what) for key, what in figures.training_legend()],
        words=words,
        tables=tables,
        text=text,
        strip_ends=figures.strip_ends,
        doubt_table=doubt_table,
        posterior_table=posterior_table,
        suspicion_table=suspicion_table,
        zip=zip,
        FOLD_ABOVE=FOLD_ABOVE,
        MOST_IDS=MOST_IDS,
        MAX_POINTS=MAX_POINTS,
        REGIMES=get_args(Regime),
        SYMBOLS=SYMBOLS,
    )
    return environment
