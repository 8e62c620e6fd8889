"""Random programs that try to look like an outage of the sandbox. Run them in the sandbox only."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

Rng = random.Random
CHOICE = re.compile("«([^«»]*)»")


def _templates() -> dict[str, list[str]]:
    """Return the templates of each kind in the file beside this one, which explains them."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for block in Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n#% ")[1:]:
        kind, _, text = block.partition("\n")
        kinds[kind].append(text.strip("\n"))
    return kinds


TEMPLATES = _templates()


def _expand(rng: Rng, template: str) -> str:
    bound: dict[str, str] = {}

    def chosen(match: re.Match[str]) -> str:
        text: str = match[1]
        if text.startswith("$"):
            name, *others = text[1:].split("¦")
            return rng.choice([bound[name] if name in bound else TEMPLATES[name][0], *others])
        name, binds, options = text.rpartition("≔")
        choice = rng.choice(options.split("¦"))
        if binds:
            bound[name] = choice
        return choice

    while "«" in template:
        template = CHOICE.sub(chosen, template, count=1)
    return template


def _indent(text: str) -> str:
    return "\n".join("    " + line if line else line for line in text.split("\n"))


def _spoil_text(rng: Rng, text: str) -> str:
    """Return `text` damaged in a way that may keep it from compiling."""
    return rng.choice(
        (
            lambda: (
                f"# coding: {rng.choice(('rot13', 'utf-16', 'nothing', 'latin-1', 'utf-7', 'unicode_escape'))}\n"
                + text
            ),
            lambda: text + "\n\0",
            lambda: "\ufeff" + text,
            lambda: text + "\nx = " + "(" * rng.choice((50, 150, 3000)) + "1",
            lambda: text + "\nx = " + "[" * 90 + "]" * 90,
            lambda: text + "\nx = " + "-" * rng.choice((500, 20000)) + "1",
            lambda: text + "\nx = " + "9" * 5000,
            lambda: text + "\nx = '\\N{nothing}'",
            lambda: text + "\n\tx = 1\n  y = 2",
            lambda: text + "\nraise SyntaxError('worker lost', ('/sandbox/worker.py', 1, 1, 'x'))",
            lambda: text + "\nreturn 125",
            lambda: "from __future__ import nothing\n" + text,
            lambda: text + "\n" + "if 1:\n" + "\n".join(" " * n + "if 1:" for n in range(1, 120)),
            lambda: text.replace("\n", "\r"),
            lambda: text.replace("\n", "\r\n") + "\x0c\x1a",
            lambda: text + "\n" + "x = 1\n" * 3000,
            lambda: text + "\nf(" + ", ".join("a" + str(n) for n in range(2000)) + ")",
            lambda: "\n" * rng.choice((10, 5000)) + text + "\n'''never ends",
        )
    )()


def _parts(rng: Rng, count: int) -> list[str]:
    """Return `count` different statements, of which at most one starts processes."""
    starting = TEMPLATES["starting"]
    chosen = rng.sample([*TEMPLATES["statement"], *starting], count)
    second = [template for template in chosen if template in starting][1:]
    return [_expand(rng, template) for template in chosen if template not in second]


def _script(rng: Rng) -> str:
    parts = _parts(rng, rng.choice((1, 1, 2, 2, 3)))
    if rng.random() < 0.4:
        parts.insert(rng.randrange(len(parts) + 1), "print(42)")
    guarded = "try:\n{}\nexcept Exception:\n    pass"
    return "\n".join(
        guarded.format(_indent(part)) if rng.random() < 0.2 else part for part in parts
    )


def _function(rng: Rng) -> str:
    """Return a program whose `f(x)` combines one to three mechanisms, some at import and some in the call."""
    count = rng.choice((1, 1, 2, 2, 3))
    kind = "value" if rng.random() < 0.75 else "plain"
    value = _expand(rng, rng.choice(TEMPLATES[kind]))
    parts = _parts(rng, count - 1 if rng.random() < 0.75 else count)
    before = [part for part in parts if rng.random() < 0.35]
    inside = [_indent(part) for part in parts if part not in before]
    lines = [*before, "def f(x):", *inside, _indent(value), "    return value"]
    if rng.random() < 0.08:
        lines.append(_expand(rng, TEMPLATES["ending"][0]))
    return "\n".join(lines)


def programs(seed: int, count: int) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Yield `count` programs with {"call": None} to run one as a script, or {"call": "f"} to call it with an int."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        call = "f" if rng.random() < 0.5 else None
        text = _function(rng) if call else _script(rng)
        if rng.random() < 0.06:
            text = _spoil_text(rng, text)
        yield text + "\n", {"call": call}
