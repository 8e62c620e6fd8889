"""Planning and proof: cards, published runs beside their plans, errors on a CPU, stated shares, stages of the proof."""

from __future__ import annotations

from prorl_cli.prove.stages import STAGES
from prorl_training.sizing.cards import load_cards
from prorl_training.sizing.evidence import compare, evidence
from prorl_training.sizing.ratios import Ratios, stated_ratios
from reference.markdown import table

WORDS = {
    "update_flops": "share of the peak FLOP/s with gradient",
    "score_flops": "without gradient",
    "decode_flops": "in sampling",
    "decode_bandwidth": "share of the bandwidth in sampling",
    "iteration_seconds": "seconds between two tokens beside that",
    "row_seconds": "and for each sequence",
    "layer_seconds": "and for each layer",
    "optimizer_bandwidth": "share of the bandwidth in an optimiser step",
    "link": "share of link or network in collectives",
    "step_seconds": "seconds of a step beside all that",
    "score_tail_seconds": "seconds until the last reward",
    "disk_bytes": "bytes/s of a checkpoint",
}


def cards() -> str:
    """Return the cards with peaks, price and sources."""
    rows = [
        (
            f"`{name}`",
            f"{c.flops / 1e12:g}",
            f"{c.bandwidth / 1e9:g}",
            f"{c.memory / 1e9:g}",
            f"{c.price:g}" if c.price is not None else "-",
            f"{c.source}; price: {c.priced}",
        )
        for name, c in load_cards().items()
    ]
    return table(("card", "TFLOP/s", "GB/s", "GB", "$ an hour", "from"), rows)


def published() -> str:
    """Return the published runs beside their plans."""
    rows = [
        (
            c.run.name,
            _hours(c.run.gpu_hours),
            _hours(c.planned_gpu_hours),
            f"{c.factor:.1f}",
            c.run.source,
        )
        for c in compare(stated_ratios())
    ]
    return table(("run", "GPU hours", "planned", "times", "source"), rows)


def _hours(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def errors() -> str:
    """Return the errors of the stages of three models on a CPU."""
    measured = evidence().measured
    stages = list(dict.fromkeys(m.stage for m in measured))
    rows = []
    for parameters in dict.fromkeys(m.parameters for m in measured):
        own = {m.stage: m for m in measured if m.parameters == parameters}
        seconds = f"{own['step'].measured:.1f}"
        rows.append((f"{parameters:,}", seconds, *(f"{own[s].error:+.0%}" for s in stages)))
    return table(("parameters", "s a step", *stages), rows)


def shares() -> str:
    """Return the stated shares with their sources."""
    found = stated_ratios()
    names = Ratios.model_fields
    rows = [(WORDS[n], f"{getattr(found, n).value:g}", getattr(found, n).source) for n in names]
    return table(("what", "stated", "from"), rows)


def stages() -> str:
    """Return the stages of ``prorl prove gpu``."""
    rows = [
        (
            f"`{s.name}`",
            s.title,
            ", ".join(f"`{name}`" for name in s.after) or "-",
            f"{s.minutes:g}",
        )
        for s in STAGES
    ]
    return table(("stage", "what", "after", "minutes kept for it on a GPU, a guess"), rows)
