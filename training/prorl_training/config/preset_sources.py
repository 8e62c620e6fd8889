"""Where each value of a packaged preset comes from: the comments of its YAML, read by position.

A value's source is the comment at the end of its line, else the comment line right above it. Leaves
out: whether a source is right (tests/training/test_training_presets.py holds the key numbers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import yaml

from prorl_training.config.files import PlainLoader, preset_text, resolve_preset

_COMMENT = re.compile(r"(?:^|\s)#\s*(.*)$")


def preset_parent(text: str) -> str | None:
    """Return the preset that a preset's YAML text extends, if any."""
    root = yaml.compose(text, Loader=PlainLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return next((value.value for key, value in pairs if key.value == "extends"), None)


def value_sources(text: str) -> dict[tuple[str, ...], str]:
    """Return path -> source of every value in a preset's YAML text, "" where none is given.

    A path is the keys and list indices that lead to the value, like ("phases", "0", "steps");
    ``extends`` is no value.
    """
    lines = text.splitlines()
    root = yaml.compose(text, Loader=PlainLoader)
    found = {path: _source(lines, node) for path, node in _leaves(root, ())} if root else {}
    return {path: source for path, source in found.items() if path != ("extends",)}


def preset_sources(name: str) -> dict[tuple[str, ...], str]:
    """Return path -> source of every value that a preset sets, its parents' under its own."""
    text = preset_text(name)
    parent = preset_parent(text)
    return {**(preset_sources(parent) if parent else {}), **value_sources(text)}


def leaf_values(values: Mapping[str, object]) -> dict[tuple[str, ...], object]:
    """Return path -> value of plain values, with the same paths as :func:`value_sources`."""
    return dict(_walk(values, ()))


def preset_values(name: str) -> dict[tuple[str, ...], object]:
    """Return path -> value of every value that a preset or one of its parents sets."""
    texts = {}
    known: str | None = name
    while known is not None and known not in texts:
        texts[known] = preset_text(known)
        known = preset_parent(texts[known])
    return leaf_values(resolve_preset(name, texts))


def _walk(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, (*path, str(key)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, (*path, str(number)))
    else:
        yield path, value


def _leaves(
    node: yaml.Node, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], yaml.ScalarNode]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _leaves(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _leaves(value, (*path, str(number)))
    elif isinstance(node, yaml.ScalarNode):
        yield path, node


def _source(lines: list[str], node: yaml.ScalarNode) -> str:
    row = node.end_mark.line
    beside = _COMMENT.search(lines[row], node.end_mark.column)
    if beside:
        return beside.group(1).strip()
    above = lines[row - 1].strip() if row else ""
    return above.lstrip("# ") if above.startswith("#") else ""
