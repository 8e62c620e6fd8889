"""Write the model card (README.md), which states what is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from prorl_common.hub import is_repo
from prorl_common.markup import md, table
from prorl_datasets import recipe_names
from prorl_training.config.presets import preset_description, preset_names
from prorl_training.publishing.facts import Facts, Training, prorl_version

UNKNOWN = "Not known here: this folder came without its run."
FIRST_FEW = 3
MOST_CHANGED = 40
"""Maximum number of changed settings in the card; all are in training/config.yaml."""


class Evaluation(Protocol):
    """Evaluation of exactly these weights (``prorl_evaluation.report.card``); empty if nothing was measured."""

    @property
    def section(self) -> str:
        """Markdown below the heading."""

    @property
    def index(self) -> Sequence[Mapping[str, Any]]:
        """Results for the card's model-index."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """Files to publish with the card."""

    @property
    def commands(self) -> Sequence[str]:
        """Commands that reproduce the results."""


def model_card(repo: str, facts: Facts, evaluation: Evaluation, files: Sequence[str]) -> str:
    """Return the card of ``facts`` for ``repo``; ``files`` are the other published files."""
    run = facts.training
    name = repo.partition("/")[2]
    at = f" after step {run.step}" if run else ""
    unmeasured = (
        f"None: these weights{at} were not evaluated, and nothing here says how good they are."
    )
    pipeline = f'from transformers import pipeline\n\nask = pipeline("text-generation", "{repo}")'
    sections = {
        "What it was trained on": _trained_on(run) if run else UNKNOWN,
        "How": _how(facts),
        "What happened": _happened(run) if run else "",
        "Evaluation": evaluation.section or unmeasured,
        "Limits": _limits(facts, evaluation),
        "How to make it again": _again(facts, run, evaluation) if run else "",
        "Files beside the model": _bullets([f"`{file}`" for file in files if "/" in file]),
    }
    parts = [
        f"---\n{_front(name, facts, evaluation)}\n---",
        f"# {md(name)}",
        _lead(facts),
        f"```python\n{pipeline}\n```",
        *(f"## {heading}\n\n{text}" for heading, text in sections.items() if text),
    ]
    return "\n\n".join(parts) + "\n"


def _front(name: str, facts: Facts, evaluation: Evaluation) -> str:
    from huggingface_hub import ModelCardData

    run, base = facts.training, facts.base
    domains = run.dataset.domains if run else []
    sources = {s for s, _ in run.dataset.sources if _on_the_hub(s)} if run else set()
    trained = ["reinforcement-learning", "verifiable-rewards", "reasoning"] if facts.lineage else []
    measured: dict[str, Any] = {}
    if evaluation.index:
        results = [dict(result) for result in evaluation.index]
        measured["model-index"] = [{"name": name, "results": results}]
    data = ModelCardData(
        license=base.licence,
        library_name="transformers",
        pipeline_tag="text-generation",
        base_model=base.name,
        base_model_relation="finetune" if base.name and facts.lineage else None,
        datasets=sorted(sources) or None,
        tags=["prorl", *trained, *domains],
        **measured,
    )
    return str(data.to_yaml())


def _on_the_hub(source: str) -> bool:
    kind = source.partition("/")[0]
    return is_repo(source) and kind not in ("procedural", "reasoning_gym", "file")


def _lead(facts: Facts) -> str:
    base = facts.base
    name = (
        f"[{md(base.name)}](https://huggingface.co/{base.name})"
        if base.name
        else "A model without a public name"
    )
    weights = f" (SHA-256 of its weights begins `{base.weights[:12]}`)" if base.weights else ""
    licence = (
        f"The base model's licence is {md(base.licence)}."
        if base.licence
        else "The base model's licence is not known here: look it up before you use this model."
    )
    changes = f" As it was trained from, it is changed: {md(base.changes)}." if base.changes else ""
    ending = f"{licence}{changes} SHA-256 over these weights begins `{facts.weights[:12]}`."
    version = f"with prorl {prorl_version()}"
    if facts.lineage is None:
        return f"{name}, published {version}. {ending}"
    return (
        f"{name}{weights}, trained further by reinforcement learning on rewards that programs check, {version}: "
        f"run `{md(facts.lineage['run'])}` after step {facts.lineage['step']}. {ending}"
    )


def _trained_on(run: Training) -> str:
    data = run.dataset
    sha = (
        f"SHA-256 over its files begins `{data.sha256[:12]}`"
        if data.sha256
        else "its hash was not recorded"
    )
    if data.recipe is None:
        return f"A dataset that was not at hand when this card was written; {sha}."
    splits = [split for split, counts in data.counts.items() if counts]
    domains = list(dict.fromkeys(d for split in splits for d in data.counts[split]))
    rows = [(md(d), *(f"{data.counts[split].get(d, 0):,}" for split in splits)) for d in domains]
    hub = [f"- {md(s)} ({md(licence)})" for s, licence in data.sources if _on_the_hub(s)]
    kinds = sorted({s.partition("/")[0] for s, _ in data.sources if not _on_the_hub(s)})
    generated = [f"- generated: {md(', '.join(kinds))}"] if kinds else []
    parts = [
        f"The dataset of recipe `{md(data.recipe)}`; {sha}. Every row has a program that checks answers to it.",
        table(("domain", *splits), rows),
        "\n".join([*hub, *generated]),
    ]
    weights = run.config.get("data", {}).get("domain_weights")
    if weights:
        listed = ", ".join(f"{md(d)} {w:g}" for d, w in weights.items())
        parts.append(f"Prompts were drawn with these weights of the domains: {listed}.")
    return "\n\n".join(part for part in parts if part)


def _how(facts: Facts) -> str:
    run = facts.training
    parts = []
    if run is not None:
        c, r = run.config, run.config["rollout"]
        packaged = c["preset"] in preset_names()
        description = f" ({md(preset_description(c['preset']))})" if packaged else ""
        tokens = next(
            (row["tokens_total"] for row in reversed(run.metrics) if "tokens_total" in row), None
        )
        drawn = f", {tokens:,} response tokens drawn in all" if tokens is not None else ""
        size = (
            "`training/config.yaml` has the sizes of each phase"
            if c.get("phases")
            else f"a step has {r['prompts']} prompts with {r['samples']} responses of up to {r['max_tokens']} tokens"
        )
        parts.append(
            f"Preset `{md(c['preset'])}`{description}, engine {c['engine']}, seed {c['seed']}. {run.step} of {c['steps']} "
            f"steps{drawn}; {size}."
        )
        parts.append(_settings(run))
    if len(facts.legs) > 1 or run is None:
        parts.append("The legs of training that led here, oldest first:\n\n" + _bullets(facts.legs))
    if run is None and not facts.legs:
        return UNKNOWN
    return "\n\n".join(part for part in parts if part)


def _settings(run: Training) -> str:
    if run.changed is None:
        return "What differs from the preset is not known here; `training/config.yaml` has every setting."
    changed = run.changed
    if not changed:
        return "No setting that enters its mathematics differs from the preset's."
    rows = [(f"`{md(k)}`", md(_value(a)), md(_value(b))) for k, (a, b) in changed.items()]
    more = (
        f"\n\nand {len(rows) - MOST_CHANGED} more, in `training/config.yaml`"
        if len(rows) > MOST_CHANGED
        else ""
    )
    return (
        "Settings that enter its mathematics and differ from the preset's:\n\n"
        + table(("setting", "preset", "here"), rows[:MOST_CHANGED])
        + more
    )


def _value(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _happened(run: Training) -> str:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for decision in run.decisions:
        kinds.setdefault(str(decision["kind"]), []).append(decision)
    rows = []
    for kind, decisions in kinds.items():
        first = "; ".join(f"step {d['step']}: {d['reason']}" for d in decisions[:FIRST_FEW])
        rows.append((md(kind.replace("_", " ")), str(len(decisions)), md(first)))
    parts = [
        table(("decision", "times", f"the first {FIRST_FEW}, and why"), rows)
        or "Nothing was decided on the way: no reset, no window, no safety stop.",
        "Every decision with its evidence is in `training/decisions.jsonl`." if rows else "",
    ]
    watched = [row for row in run.metrics if row.get("validation_reward") is not None]
    if watched:
        picked = [watched[0], *watched[1:][-1:]]
        rewards = ", ".join(
            f"{row['validation_reward']:.3f} after step {row['step']}" for row in picked
        )
        count = run.config["validation"]["problems"]
        parts.append(
            f"Mean reward on the validation split, up to {count} problems that the run watched: {rewards}. The run may have chosen by "
            "it, so it is no evaluation."
        )
    return "\n\n".join(part for part in parts if part)


def _limits(facts: Facts, evaluation: Evaluation) -> str:
    run, limits = facts.training, []
    if facts.lineage is not None:
        limits.append(
            "The rewards check final answers, code and constraints, not the reasoning before them: a right answer may stand below "
            "a wrong argument."
        )
        limits.append(
            "It was not trained to be safe, and has what its base model has of harms and bias."
        )
    if run is not None:
        if not run.config.get("phases"):
            longest = run.config["rollout"]["max_tokens"]
            limits.append(f"Responses in training had at most {longest:,} tokens.")
        if run.dataset.counts:
            domains = md(", ".join(run.dataset.domains))
            limits.append(
                f"Nothing is known of it beyond the domains it was trained on ({domains})."
            )
        limits.append(
            f"This is one run with one seed ({run.config['seed']}); another may come out otherwise."
        )
        if run.config.get("model", {}).get("lora", {}).get("rank"):
            limits.append(
                "It was trained as low-rank adapters, which are merged into these weights."
            )
    if evaluation.section:
        limits.append(
            "Intervals are over the problems above, and say nothing about other kinds of problems."
        )
    if not facts.base.licence:
        limits.append("No licence is given, as the base model's is not known here.")
    return _bullets(limits) or "Not known here."


def _again(facts: Facts, run: Training, evaluation: Evaluation) -> str:
    base = facts.base.model_option or "BASE"
    recipe, data, built = run.dataset.recipe, "DATASET", []
    if recipe in recipe_names():
        data = f"data/{recipe}"
        built = [f"prorl data build --recipe {recipe} --out {data}"]
    commands = [
        *built,
        f"prorl train --config training/config.yaml --data {data} --model {base}",
        *evaluation.commands,
    ]
    on = ", ".join(f"{name} {value}" for name, value in run.versions.items())
    notes = [f"It ran on: {md(on)}."] if on else []
    unnamed = {"DATASET": not built, "BASE": not facts.base.model_option}
    if placeholders := [name for name, missing in unnamed.items() if missing]:
        notes.append(
            f"{' and '.join(placeholders)}: what it was, without a name that anybody else could use."
        )
    if len(facts.legs) > 1 and not run.config.get("stages"):
        notes.append("The commands are those of the last leg alone.")
    block = "```console\n" + "\n".join(commands) + "\n```"
    return "\n\n".join([f"With prorl {prorl_version()}:", block, *notes])


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
