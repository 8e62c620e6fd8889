"""Fill the tables of docs/reference/presets.md from the packaged presets and their comments.

    python scripts/preset_reference.py            # rewrite the tables
    python scripts/preset_reference.py --check    # exit 1 when they are out of date

The prose around the tables is written by hand and stays. Leaves out: what the keys mean
(config_reference.py).
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from generated_page import write_or_check

from prorl_training.config.presets import (
    preset_parent,
    preset_sources,
    preset_text,
    preset_values,
    value_sources,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "presets.md"

COLUMNS = ("prorl-v1", "prorl-v2", "prorl-v2-official", "prorl-v2.1", "brorl", "justrl", "dler")
"""The published variants; the ablations and the small presets have their own paragraphs."""

BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

OURS = re.compile(r"\bours\b|^unpublished|^not in the post")
"""Sources that do not name the preset's own publication."""

ONLY_OURS = {"ours", "not in v1; ours", "not in the post; ours", "unpublished; ours"}
"""Sources that say no more than the asterisk in the table of values."""

Key = tuple[str, ...]


@cache
def published(name: str) -> tuple[dict[Key, object], dict[Key, str]]:
    """Return a preset's values and their sources, its parents' included."""
    return preset_values(name), preset_sources(name)


def shown(value: object) -> str:
    """Return a value as YAML shows it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def values_table() -> str:
    """Return the table of keys x presets; * marks what its publication does not give."""
    keys: dict[Key, None] = {}
    for name in COLUMNS:
        keys.update(dict.fromkeys(k for k in published(name)[0] if k[0] != "phases"))
    order = sorted(keys, key=lambda key: SECTIONS.index(key[0]))
    lines = [f"| key | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for key in order:
        cells = [cell(name, key) for name in COLUMNS]
        lines.append(f"| `{'.'.join(key)}` | {' | '.join(cells)} |")
    return "\n".join(lines)


SECTIONS = (
    "steps",
    "model",
    "data",
    "rollout",
    "dynamic_sampling",
    "advantage",
    "loss",
    "kl",
    "length_penalty",
    "stop_properly",
    "overlong",
    "controller",
    "optimizer",
    "validation",
    "checkpoint",
    "openrlhf",
)


def cell(name: str, key: Key) -> str:
    """Return one value, marked when it is ours; empty where the preset leaves the default."""
    values, sources = published(name)
    if key not in values:
        return ""
    value = shown(values[key])
    if key == ("model", "path"):
        value = value.rpartition("/")[2]
    return value + ("*" if OURS.search(sources[key]) else "")


def phases_table() -> str:
    """Return the phases of ``prorl-v1``: name, length, how it ends, reset, what it sets."""
    values, sources = published("prorl-v1")
    lines = ["| phase | steps | ends | reset | sets |", "|---|---|---|---|---|"]
    for number in sorted({int(key[1]) for key in values if key[0] == "phases"}):
        own = {k[2:]: v for k, v in values.items() if k[:2] == ("phases", str(number))}
        ours = "ours" in sources[("phases", str(number), "steps")]
        sets = ", ".join(f"`{'.'.join(k[1:])}={shown(v)}`" for k, v in own.items() if k[0] == "set")
        lines.append(
            f"| {own['name',]} | {own['steps',]}{'*' if ours else ''} "
            f"| {own.get(('until',), 'steps')} | {'yes' if own.get(('reset',)) else ''} | {sets} |"
        )
    return "\n".join(lines)


def sources_table() -> str:
    """Return one table a preset: its own sources, each with the keys whose values come from it.

    The values stand in the first table; what a preset only inherits, and what is ours without
    another word, is not repeated.
    """
    parts = []
    for name in COLUMNS:
        text = preset_text(name)
        parent = preset_parent(text)
        parts.append(f"### `{name}`\n")
        if parent:
            parts.append(f"The rest is `{parent}`'s.\n")
        parts += ["| source | keys |", "|---|---|"]
        keys: dict[str, list[Key]] = {}
        for key, source in value_sources(text).items():
            if source in ONLY_OURS and key[0] != "phases":
                continue
            keys.setdefault(source, []).append(key)
        parts += [f"| {source} | {', '.join(grouped(found))} |" for source, found in keys.items()]
        parts.append("")
    return "\n".join(parts).rstrip()


def grouped(keys: list[Key]) -> list[str]:
    """Return keys as code, those of one section in braces: ``rollout.{prompts,samples}``."""
    leaves: dict[Key, list[str]] = {}
    for key in keys:
        leaves.setdefault(key[:-1], []).append(key[-1])
    shown_keys = []
    for parents, last in leaves.items():
        ending = last[0] if len(last) == 1 else "{" + ",".join(last) + "}"
        shown_keys.append(f"`{'.'.join((*parents, ending))}`")
    return shown_keys


TABLES = {"values": values_table, "phases": phases_table, "sources": sources_table}


def filled(text: str) -> str:
    """Return the page with every table between its markers made anew."""
    return BLOCK.sub(lambda m: f"{m.group(1)}{TABLES[m.group(2)]()}\n{m.group(3)}", text)


def main() -> int:
    """Write or check the page; 1 when ``--check`` finds it out of date."""
    return write_or_check(
        PAGE, filled(PAGE.read_text("utf-8")), "Fill the tables of the presets' page."
    )


if __name__ == "__main__":
    sys.exit(main())
