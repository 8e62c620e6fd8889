"""Matplotlib figures as inline SVG that takes its colours from the page, so dark and light both work.

Figures are drawn in placeholder colours, which become CSS variables. Leaves out: what is drawn
(``report_figures``) and the variables' values (``report_style``).
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import Any

from prorl_common import MissingExtraError

INK, MUTED, GRID, WINDOW, RESET = "#0a0b01", "#0a0b02", "#0a0b03", "#0a0b04", "#0a0b05"
SERIES = ("#0a0b10", "#0a0b11", "#0a0b12", "#0a0b13")
"""Placeholders: text, secondary text, grid, penalty window, reset, and the results in order."""

_VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    WINDOW: "--window",
    RESET: "--reset",
    **{colour: f"--series{i}" for i, colour in enumerate(SERIES)},
}
_SETTINGS: dict[str, object] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "figure.facecolor": "none",
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.08,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
}


def series_colour(place: int) -> str:
    """Return the placeholder colour of the result at ``place``; more results than colours share."""
    return SERIES[place % len(SERIES)]


def drawable(name: str) -> str:
    """Return ``name`` as a figure can show it: short, printable, in letters every font has."""
    shown = "".join(c if " " <= c <= "~" else "?" for c in name)
    return shown if len(shown) <= 28 else f"{shown[:26]}..."


def draw(paint: Callable[[Any], None], width: float, height: float, title: str) -> str:
    """Return inline SVG of what ``paint(figure)`` draws on ``width`` x ``height`` inches.

    ``title`` is read out to those who cannot see it. Raises MissingExtraError without matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("report", "matplotlib") from error
    settings: Any = {**_SETTINGS, "svg.hashsalt": title}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure)
        buffer = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None})
    return _inline(buffer.getvalue(), title)


def _inline(svg: str, title: str) -> str:
    """Cut the SVG element out of the file and make it part of the page."""
    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<g id=\"[^\"]*\"", "<g", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    label = html.escape(title, quote=True)
    svg = re.sub(
        r"<svg [^>]*?viewBox=\"([^\"]*)\"[^>]*>",
        lambda m: (
            f'<svg viewBox="{m[1]}" role="img" aria-label="{label}" class="figure" '
            'xmlns:xlink="http://www.w3.org/1999/xlink">'
        ),
        svg,
        count=1,
    )
    return svg.strip()
