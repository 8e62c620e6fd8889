"""Write the model card (README.md), which also names unknown facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from prorl_common.hub import is_repo
from prorl_common.markup import md, table
from prorl_datasets import recipe_names
from prorl_training.config.presets import preset_description, preset_names
from prorl_training.publishing.facts import Facts, Training, prorl_version
from prorl_training.run.lineage import lines

TEMPLATE = """\
---
{front}
---

# {name}

```python
from transformers import pipeline

ask = pipeline("text-generation", "{repo}")
```

{sections}
"""
UNKNOWN = "not known here"
FIRST_FEW = 3


class Evaluation(Protocol):
    """An evaluation in a model card: Markdown ``section``, model-``index``, ``files``, and ``commands`` to repeat
    it.
    """

    @property
    def section(self) -> str: ...
    @property
    def index(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def files(self) -> Mapping[str, bytes]: ...
    @property
    def commands(self) -> Sequence[str]: ...


def model_card(repo: str, facts: Facts, evaluation: Evaluation, files: Sequence[str]) -> str:
    """Return the text of the card for ``repo``. ``files`` are the other published files."""
    run = facts.training
    name = repo.partition("/")[2]
    legs = lines(facts.lineage["lineage"]) if facts.lineage else []
    rows = [(label, value or UNKNOWN) for label, value in _facts(facts).items()]
    after = f" after step {run.step}" if run else ""
    sections = {
        "Facts": table(("", ""), rows) + ("" if run else f"\n\nThe run is {UNKNOWN}."),
        "Legs of training, oldest first": _bullets(legs) if len(legs) > 1 or run is None else "",
        "Dataset": _rows_by_domain(run) if run else "",
        "Changed settings": _changed_settings(run) if run else "",
        "Decisions": _decisions(run) if run else "",
        "Evaluation": evaluation.section or f"None: these weights{after} were not evaluated.",
        "Limits": _bullets(_limits(facts, evaluation)),
        "Commands": _commands(facts, run, evaluation, len(legs)) if run else "",
        "Files beside the model": _bullets([f"`{file}`" for file in files if "/" in file]),
    }
    return TEMPLATE.format(
        front=_front(name, facts, evaluation),
        name=md(name),
        repo=repo,
        sections="\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items() if text),
    )


def _front(name: str, facts: Facts, evaluation: Evaluation) -> str:
    from huggingface_hub import ModelCardData

    run, base = facts.training, facts.base
    trained = ["reinforcement-learning", "verifiable-rewards", "reasoning"] if facts.lineage else []
    measured: dict[str, Any] = {}
    if evaluation.index:
        results = [dict(result) for result in evaluation.index]
        measured["model-index"] = [{"name": name, "results": results}]
    sources = {s for s, _ in run.dataset.sources if _is_on_the_hub(s)} if run else set()
    data = ModelCardData(
        license=base.licence,
        library_name="transformers",
        pipeline_tag="text-generation",
        base_model=base.name,
        base_model_relation="finetune" if base.name and facts.lineage else None,
        datasets=sorted(sources) or None,
        tags=["prorl", *trained, *(run.dataset.domains if run else [])],
        **measured,
    )
    return str(data.to_yaml())


def _is_on_the_hub(source: str) -> bool:
    kind = source.partition("/")[0]
    return is_repo(source) and kind not in ("procedural", "reasoning_gym", "file")


def _facts(facts: Facts) -> dict[str, str | None]:
    base, run = facts.base, facts.training
    rows = {
        "base model": base.name and f"[{md(base.name)}](https://huggingface.co/{base.name})",
        "base model's licence": base.licence and md(base.licence),
        "base model's weights (SHA-256)": base.weights and f"`{base.weights[:12]}`",
        "these weights (SHA-256)": f"`{facts.weights[:12]}`",
        "published with": f"prorl {prorl_version()}",
    }
    if base.changes:
        rows["base model was changed"] = md(base.changes)
    if facts.lineage is not None:
        run_name, step = md(facts.lineage["run"]), facts.lineage["step"]
        rows["trained on rewards that programs check"] = f"run `{run_name}` after step {step}"
    if run is None:
        return rows
    c, data = run.config, run.dataset
    packaged = c["preset"] in preset_names()
    about = f" ({md(preset_description(c['preset']))})" if packaged else ""
    tokens = [row["tokens_total"] for row in run.metrics if "tokens_total" in row]
    rewards = [r for r in run.metrics if r.get("validation_reward") is not None]
    weights = c.get("data", {}).get("domain_weights") or {}
    hub = [f"{md(s)} ({md(licence)})" for s, licence in data.sources if _is_on_the_hub(s)]
    kinds = sorted({s.partition("/")[0] for s, _ in data.sources if not _is_on_the_hub(s)})
    rows |= {
        "preset": f"`{md(c['preset'])}`{about}",
        "engine, seed": f"{c['engine']}, {c['seed']}",
        "steps": f"{run.step} of {c['steps']}",
        "response tokens sampled": f"{tokens[-1]:,}" if tokens else None,
        "dataset": data.recipe and f"recipe `{md(data.recipe)}`",
        "dataset's files (SHA-256)": data.sha256 and f"`{data.sha256[:12]}`",
        "sources": ", ".join([*hub, *(f"generated: {md(kind)}" for kind in kinds)]),
        "ran on": md(", ".join(f"{name} {value}" for name, value in run.versions.items())),
    }
    if not c.get("phases"):
        r = c["rollout"]
        rows["prompts, responses a prompt, tokens a response"] = (
            f"{r['prompts']}, {r['samples']}, up to {r['max_tokens']:,}"
        )
    if weights:
        rows["weights of the domains"] = ", ".join(f"{md(d)} {w:g}" for d, w in weights.items())
    if rewards:
        rows["mean validation reward (the run may have chosen by it)"] = ", ".join(
            f"{row['validation_reward']:.3f} after step {row['step']}"
            for row in [rewards[0], *rewards[1:][-1:]]
        )
    return rows


def _rows_by_domain(run: Training) -> str:
    counts = {split: domains for split, domains in run.dataset.counts.items() if domains}
    domains = list(dict.fromkeys(d for split in counts.values() for d in split))
    rows = [(md(d), *(f"{split.get(d, 0):,}" for split in counts.values())) for d in domains]
    return table(("domain", *counts), rows)


def _changed_settings(run: Training) -> str:
    if run.changed is None:
        return "What differs from the preset is not known here; `training/config.yaml` has every setting."
    rows = [(f"`{md(k)}`", md(before), md(now)) for k, (before, now) in run.changed.items()]
    return table(("setting", "preset", "here"), rows) or "None that enters the mathematics."


def _decisions(run: Training) -> str:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for decision in run.decisions:
        kinds.setdefault(str(decision["kind"]), []).append(decision)
    rows = []
    for kind, decisions in kinds.items():
        first = "; ".join(f"step {d['step']}: {d['reason']}" for d in decisions[:FIRST_FEW])
        rows.append((md(kind.replace("_", " ")), len(decisions), md(first)))
    head = ("decision", "times", f"the first {FIRST_FEW}, and why")
    return table(head, rows) or "None: no reset, no window, no safety stop."


def _limits(facts: Facts, evaluation: Evaluation) -> list[str]:
    run, limits = facts.training, []
    if facts.lineage is not None:
        limits.append(
            "The rewards check final answers, code and constraints, not the reasoning before them."
        )
        limits.append("It was not trained to be safe, and has its base model's harms and bias.")
    if run is not None:
        limits.append("This is one run with one seed; another may come out otherwise.")
        if run.dataset.counts:
            domains = md(", ".join(run.dataset.domains))
            limits.append(f"Nothing is known of it beyond the domains of its training ({domains}).")
        if run.config.get("model", {}).get("lora", {}).get("rank"):
            limits.append("It was trained as low-rank adapters, which are merged into the weights.")
    if evaluation.section:
        limits.append("Intervals are over the problems above, and say nothing of other kinds.")
    return limits or [UNKNOWN]


def _commands(facts: Facts, run: Training, evaluation: Evaluation, legs: int) -> str:
    base, recipe = facts.base.model_option or "BASE", run.dataset.recipe
    data = f"data/{recipe}" if recipe in recipe_names() else "DATASET"
    commands = [
        *([f"prorl data build --recipe {recipe} --out {data}"] if data != "DATASET" else []),
        f"prorl train --config training/config.yaml --data {data} --model {base}",
        *evaluation.commands,
    ]
    parts = ["```console\n" + "\n".join(commands) + "\n```"]
    if placeholders := [name for name in ("DATASET", "BASE") if name in (data, base)]:
        parts.append(f"{' and '.join(placeholders)}: it has no public name.")
    if legs > 1 and not run.config.get("stages"):
        parts.append("The commands are those of the last leg alone.")
    return "\n\n".join(parts)


def _bullets(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)
