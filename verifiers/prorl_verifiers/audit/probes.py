"""Probes: answers that ignore the problem, such as constants, blanks, odd numbers and parts of the question."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from prorl_verifiers.audit_shape import Group, Item, Probe, constant, options_of, plain, table_of

_LONG = (
    ("odd number", "9" * 400),
    ("odd number", "0." + "0" * 400 + "1"),
    ("unicode", "e\u0301" * 20),
)
"""Constants that are too long for ``probes.json``, which lists the others."""


def generic_probes() -> list[Probe]:
    kinds = table_of(__file__).items()
    texts = [*((kind, text) for kind, texts in kinds for text in texts), *_LONG]
    fixed = [constant(f"{kind} {printable_name(text)}", text) for kind, text in texts]
    # Whole responses that never give an answer, or give several.
    heap = " ".join(f"\\boxed{{{n}}}" for n in range(-10, 101))
    whole = {
        "no answer": "I do not know.",
        "empty response": "",
        "all boxes from -10 to 100": heap,
        "one box with all numbers": f"\\boxed{{{', '.join(str(n) for n in range(-10, 101))}}}",
        "unclosed box": "\\boxed{1",
        "answer line only": "Answer:",
        "tag in tag": "<answer><answer>1</answer></answer>",
        "thinking only": "<think>\\boxed{1}<answer>1</answer>",
    }
    raw = [constant(f"response: {name}", text, raw=True) for name, text in whole.items()]
    return fixed + raw + echo_probes() + choice_probes() + heap_probes()


def printable_name(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:30]}… ({len(text)} characters)")


# -------------------------------------------------------------------------------------------- echoes


def echo_probes() -> list[Probe]:
    rules: dict[str, Callable[[str], str | None]] = {
        "question": lambda q: q,
        "last line": lambda q: _last(q.strip().split("\n")),
        "first line": lambda q: q.strip().split("\n")[0],
        "first number": lambda q: next(iter(re.findall(r"-?\d+(?:\.\d+)?", q)), None),
        "last number": lambda q: _last(re.findall(r"-?\d+(?:\.\d+)?", q)),
        "all numbers": lambda q: ", ".join(re.findall(r"-?\d+(?:\.\d+)?", q)) or None,
        "last quoted text": lambda q: _last(re.findall(r"[\"'`]([^\"'`\n]+)[\"'`]", q)),
        "last brackets": lambda q: _last(re.findall(r"\[[^\[\]]*\]", q)),
        "last formula": lambda q: _last(re.findall(r"\$([^$]+)\$", q)),
        "text after the last colon": lambda q: q.rsplit(":", 1)[1].strip() if ":" in q else None,
        "last word": lambda q: _last(re.findall(r"\w+", q)),
        "longest paragraph": lambda q: max(q.split("\n\n"), key=len).strip(),
    }

    def echo(rule: Callable[[str], str | None], item: Item, group: Group) -> str | None:
        return rule(item.question) if item.question else None

    return [Probe(f"echo: {name}", partial(echo, rule)) for name, rule in rules.items()]


def _last(texts: list[str]) -> str | None:
    return texts[-1] if texts else None


# ------------------------------------------------------------- several things at once


def choice_probes() -> list[Probe]:
    def letters(item: Item) -> list[str]:
        return [chr(65 + at) for at in range(len(options_of(item)) or 5)]

    def labelled(item: Item) -> list[str]:
        return [f"({chr(65 + at)}) {text}" for at, text in enumerate(options_of(item))]

    def joined(
        mark: str, texts: Callable[[Item], list[str]], item: Item, group: Group
    ) -> str | None:
        return mark.join(texts(item)) or None

    def crossed(letter: str, item: Item, group: Group) -> str | None:
        texts = options_of(item)
        at = ord(letter) - 64
        return f"({letter}) {texts[at % len(texts)]}" if texts else None

    styles = {"letters": letters, "texts": options_of, "labelled": labelled}
    probes = [
        Probe(f"options: {style} by {mark!r}", partial(joined, mark, texts))
        for style, texts in styles.items()
        for mark in (" ", ", ", " or ", " and ", "", "\n", "/")
    ]
    for letter in "ABCD":
        probes.append(
            Probe(f"options: {letter} and its neighbour's text", partial(crossed, letter))
        )
    return probes


def heap_probes() -> list[Probe]:
    def all_golds(mark: str, item: Item, group: Group) -> str | None:
        golds = sorted({other.gold for other in group.items if other.gold is not None})
        return mark.join(golds) if len({plain(gold) for gold in golds}) > 1 else None

    def later_gold(step: int, item: Item, group: Group) -> str | None:
        items = list(group.items)
        return items[(items.index(item) + step) % len(items)].gold if len(items) > step else None

    marks = (" ", ", ", "\n", " or ", "=")
    heaps = [Probe(f"golds of all items by {m!r}", partial(all_golds, m)) for m in marks]
    heaps.append(constant("heap: 0 to 200", " ".join(str(n) for n in range(201))))
    heaps.append(constant("heap: 0 to 200 with commas", ", ".join(str(n) for n in range(201))))
    heaps.append(constant("heap: alphabet", "abcdefghijklmnopqrstuvwxyz"))
    heaps.append(constant("heap: digits", "0123456789" * 5))
    heaps.append(constant("heap: yes, no", "yes no true false Yes No True False"))
    heaps += [
        Probe(f"gold of the item {step} further", partial(later_gold, step)) for step in (1, 2)
    ]
    return heaps
