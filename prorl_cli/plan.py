"""``prorl plan``: hours and cost of a run on so many cards, on paper, beside what is known of such plans."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli import console
from prorl_cli.options import Json, PluginOption
from prorl_cli.train.options import ConfigFile, Preset, Sets
from prorl_common import UserError

if TYPE_CHECKING:
    from rich.table import Table

    from prorl_training.sizing.evidence import Comparison, MeasuredStage
    from prorl_training.sizing.lengths import Lengths
    from prorl_training.sizing.plan import Plan
    from prorl_training.sizing.ratios import Ratios

ON_PAPER = (
    "on paper: reckoned from data sheets and stated shares of their peaks, measured on no GPU"
)
PARTLY = "on paper: shares of the peaks are measured where it says so, the run is not"


def plan(
    gpus: Annotated[int, typer.Option(min=1, help="Cards in all.")] = 32,
    gpu: Annotated[str, typer.Option(help="Kind of card: h100, ..., or one of --cards.")] = "h100",
    preset: Preset = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of the run.")] = None,
    settings: Sets = None,
    config_file: ConfigFile = None,
    model: Annotated[
        str | None, typer.Option(help="Cached name, or folder with a config.json.")
    ] = None,
    price: Annotated[
        float | None, typer.Option(min=0.0, help="US dollars for an hour of a card.")
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="MEAN,DEVIATION", help="Response tokens before the limit cuts (log-normal)."
        ),
    ] = None,
    like: Annotated[
        Path | None, typer.Option(help="Take the lengths from the rollouts of this run's folder.")
    ] = None,
    prompt_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of a prompt (250).")
    ] = None,
    usable: Annotated[
        float | None, typer.Option(help="Share of groups that teach something (0.41).")
    ] = None,
    cards: Annotated[Path | None, typer.Option(help="YAML file with more kinds of cards.")] = None,
    measured: Annotated[
        Path | None, typer.Option(help="proof.json of prorl prove gpu: its measured shares.")
    ] = None,
    as_json: Json = False,
    plugin: PluginOption = None,
) -> None:
    """Reckon stage times, hours and cost of a run on GPUs.

    On paper: operations and bytes over stated shares of the cards' peaks. It says how far such plans were off where
    that can be known: steps of three models on a CPU, and published runs.
    """
    from prorl_training.config.loading import load_config
    from prorl_training.sizing.cards import find_card
    from prorl_training.sizing.evidence import compare, comparison_json, evidence
    from prorl_training.sizing.known import model_shape
    from prorl_training.sizing.plan import PROMPT_TOKENS, USABLE, make_plan, plan_json
    from prorl_training.sizing.ratios import read_measured, stated_ratios
    from prorl_training.sizing.time import Workload

    del plugin  # loaded by now
    over = [*(settings or []), *([] if steps is None else [f"steps={steps}"])]
    config = load_config(preset, config_file, over)
    name = model or config.model.path
    shape = model_shape(name)
    ratios, card = stated_ratios(), find_card(gpu, cards)
    if measured is not None:
        peaks, shares = read_measured(measured)
        card = card.model_copy(update=peaks)
        ratios = ratios.taking(shares, f"measured: {measured}")
    work = Workload(
        _lengths(lengths, like),
        prompt_tokens or PROMPT_TOKENS,
        USABLE if usable is None else usable,
    )
    made = make_plan(config, shape, gpus, card, ratios, work)
    published = compare(stated_ratios())
    dollars = card.price if price is None else price
    if as_json:
        console.print_json(
            {
                "on_paper": True,
                "gpus": gpus,
                "gpu": gpu,
                "card": card.model_dump(),
                "model": name,
                "parameters": shape.parameters,
                "hours": round(made.hours, 2),
                "gpu_hours": round(made.gpu_hours, 1),
                "cost": None if dollars is None else round(made.cost(dollars), 2),
                "price": dollars,
                "phases": plan_json(made.phases),
                "lengths": work.lengths.source,
                "prompt_tokens": work.prompt,
                "usable": work.usable,
                "ratios": ratios.model_dump(),
                "published": comparison_json(published),
                "cpu_errors": [
                    {**m.model_dump(), "error": round(m.error, 3)} for m in evidence().measured
                ],
            }
        )
        return
    print(ON_PAPER if measured is None else PARTLY)
    print(
        f"\n{config.preset} · {name}, {shape.parameters / 1e9:.3g} billion parameters · {gpus} x {gpu}"
    )
    print(f"responses: {work.lengths.source}; cut at the limit")
    print(
        f"prompts of {work.prompt} tokens; {work.usable:.0%} of the groups teach something, where the others are filtered\n"
    )
    console.stdout_console().print(_phase_table(made))
    print(f"\n{made.hours:,.0f} hours, {made.gpu_hours:,.0f} GPU hours{_cost(made, dollars)}")
    if dollars is not None:
        print(f"price: {'yours' if price is not None else card.priced or 'of the file of --cards'}")
    low, high = min(c.factor for c in published), max(c.factor for c in published)
    print(
        f"published runs took {low:.1f} to {high:.1f} times what this says of them: expect "
        f"{made.gpu_hours * low:,.0f} to {made.gpu_hours * high:,.0f} GPU hours\n"
    )
    console.stdout_console().print(_published_table(published))
    print("\nerror where it can be measured (a CPU, shares learned from the two other models):")
    console.stdout_console().print(_error_table(evidence().measured))
    print("\nshares of the peaks, and times beside them:")
    console.stdout_console().print(_ratio_table(ratios))


def _lengths(text: str | None, like: Path | None) -> Lengths:
    """Return the lengths that the options name, else the base model's."""
    from prorl_training.sizing.lengths import DISTILLED, LogNormal, recorded_in

    if text is not None and like is not None:
        raise UserError("--lengths and --like both say how long responses are: give one of them")
    if like is not None:
        return recorded_in(like)
    if text is None:
        return DISTILLED
    try:
        mean, deviation = map(float, text.split(","))
    except ValueError as error:
        raise UserError(f"--lengths {text}: write it as MEAN,DEVIATION, e.g. 4000,5000") from error
    return LogNormal(mean, deviation, f"yours, mean {mean:g} and standard deviation {deviation:g}")


def _cost(made: Plan, price: float | None) -> str:
    if price is None:
        return ""
    return f", {made.cost(price):,.0f} US dollars at {price:g} an hour"


def _table(*titles: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in titles:
        left = title in ("phase", "run", "source", "share", "from", "parameters")
        table.add_column(title, justify="left" if left else "right", overflow="fold")
    return table


def _phase_table(made: Plan) -> Table:
    """Return a row for each phase, those that are alike and follow each other in one."""
    table = _table(
        "phase",
        "steps",
        "s a step",
        "sampling",
        "of it waiting",
        "log-probs",
        "gradients",
        "rest",
        "tokens/s",
        "GPU hours",
    )
    for phase in made.phases:
        s, step = phase.step.stages, phase.step
        rest = s.total - s.sampling - s.logprobs - s.gradients
        hours = phase.steps * s.total * made.gpus / 3600
        row: Sequence[Any] = (
            phase.name or "all",
            f"{'at most ' if phase.at_most else ''}{phase.steps}",
            f"{s.total:.1f}",
            f"{s.sampling:.1f}",
            f"{step.waiting:.0%}",
            f"{s.logprobs:.1f}",
            f"{s.gradients:.1f}",
            f"{rest:.1f}",
            f"{step.tokens_per_second:,.0f}",
            f"{hours:,.0f}",
        )
        table.add_row(*row)
    return table


def _published_table(found: Sequence[Comparison]) -> Table:
    table = _table("run", "GPU hours", "planned", "times", "source")
    for c in found:
        hours, planned = c.run.gpu_hours, c.planned_gpu_hours
        shown = f"{hours:,.0f}" if hours >= 10 else f"{hours:.2f}"
        reckoned = f"{planned:,.0f}" if planned >= 10 else f"{planned:.2f}"
        table.add_row(c.run.name, shown, reckoned, f"{c.factor:.1f}", c.run.source)
    return table


def _error_table(measured: Sequence[MeasuredStage]) -> Table:
    stages = list(dict.fromkeys(m.stage for m in measured))
    table = _table("parameters", *stages, "measured s a step")
    for parameters in dict.fromkeys(m.parameters for m in measured):
        own = {m.stage: m for m in measured if m.parameters == parameters}
        errors = [f"{own[stage].error:+.0%}" for stage in stages]
        table.add_row(f"{parameters:,}", *errors, f"{own['step'].measured:.1f}")
    return table


def _ratio_table(ratios: Ratios) -> Table:
    table = _table("share", "value", "from")
    for name, ratio in ratios:
        table.add_row(name.replace("_", " "), f"{ratio.value:g}", ratio.source)
    return table
