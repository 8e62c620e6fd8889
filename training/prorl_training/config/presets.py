"""The packaged presets, and the source (such as a paper) of each value.

The source of a value is the comment after it in the YAML file, else the comment line above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from itertools import takewhile
from typing import Any

import yaml

from prorl_common import nearest
from prorl_common.config import ConfigError, PlainLoader, read_yaml
from prorl_training.config.tree import merge

_COMMENT = re.compile(r"(?:^|\s)#\s*(.*)$")


def preset_names() -> list[str]:
    folder = resources.files("prorl_training") / "presets"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


def preset_text(name: str) -> str:
    """Return a preset's YAML. Raises ConfigError for an unknown name."""
    if name not in preset_names():
        names = ", ".join(preset_names())
        raise ConfigError(
            f"unknown preset '{name}'{nearest(name, preset_names())}; presets: {names}"
        )
    return (resources.files("prorl_training") / "presets" / f"{name}.yaml").read_text("utf-8")


def preset_description(name: str) -> str:
    """Return the first sentence of a preset's leading comment."""
    return first_sentence(_head(name)[0])


def preset_notes(name: str) -> str:
    """Return a preset's leading comment without its first paragraph."""
    return " ".join(_head(name)[1:])


def _head(name: str) -> list[str]:
    lines = takewhile(lambda line: line.startswith("#"), preset_text(name).splitlines())
    text = "\n".join(line.removeprefix("#").strip() for line in lines)
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def first_sentence(text: str) -> str:
    return text.split(". ")[0].removesuffix(".")


def load_preset(name: str) -> dict[str, Any]:
    """Return a packaged preset's values, including inherited values and ``preset``. Raises ConfigError."""
    return {**resolve_preset(name, _texts()), "preset": name}


def _texts() -> dict[str, str]:
    return {name: preset_text(name) for name in preset_names()}


def resolve_preset(name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of preset ``name``, merged over the values of the presets that it extends.

    ``texts`` maps every preset's name to its YAML. Raises ConfigError for unknown names, circles and malformed YAML.
    """
    chain: list[dict[str, Any]] = []
    names: list[str] = []
    parent: Any = name
    while parent is not None:
        if not isinstance(parent, str) or parent not in texts:
            by = f"preset '{names[-1]}' extends" if names else "unknown preset"
            hint = nearest(str(parent), texts)
            raise ConfigError(f"{by} '{parent}'{hint}; presets: {', '.join(sorted(texts))}")
        if parent in names:
            raise ConfigError(
                f"presets extend each other in a circle: {' > '.join(names)} > {parent}"
            )
        names.append(parent)
        values = read_yaml(texts[parent], f"preset {parent}")
        if not isinstance(values, dict):
            raise ConfigError(f"preset {parent}: expected a mapping of settings")
        parent = values.pop("extends", None)
        chain.append(values)
    result: dict[str, Any] = {}
    for values in reversed(chain):
        result = merge(result, values)
    return result


def preset_parent(text: str) -> str | None:
    """Return the name of the preset that this YAML ``extends``, or None."""
    root = yaml.compose(text, Loader=PlainLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return next((value.value for key, value in pairs if key.value == "extends"), None)


def value_sources(text: str) -> dict[tuple[str, ...], str]:
    """Return {key path: source of the value} for a preset's YAML. An unknown source is ""."""
    lines = text.splitlines()
    root = yaml.compose(text, Loader=PlainLoader)
    sources: dict[tuple[str, ...], str] = {}
    for path, node in _leaves(root, ()) if root else ():
        row = node.end_mark.line
        above = lines[row - 1].strip() if row else ""
        if path == ("extends",):
            continue
        if beside := _COMMENT.search(lines[row], node.end_mark.column):
            sources[path] = beside.group(1).strip()
        else:
            sources[path] = above.lstrip("# ") if above.startswith("#") else ""
    return sources


def preset_sources(name: str) -> dict[tuple[str, ...], str]:
    """Return {key path: source of the value} for a preset, including inherited values."""
    text = preset_text(name)
    parent = preset_parent(text)
    return {**(preset_sources(parent) if parent else {}), **value_sources(text)}


def default_sources() -> dict[tuple[str, ...], str]:
    return value_sources(_defaults_text())


def sourced_defaults() -> dict[tuple[str, ...], object]:
    return leaf_values(read_yaml(_defaults_text(), "config/defaults.yaml"))


def _defaults_text() -> str:
    return (resources.files("prorl_training") / "config" / "defaults.yaml").read_text("utf-8")


def leaf_values(values: Mapping[str, object]) -> dict[tuple[str, ...], object]:
    return dict(_walk(values, ()))


def preset_values(name: str) -> dict[tuple[str, ...], object]:
    return leaf_values(resolve_preset(name, _texts()))


def _walk(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _walk(item, (*path, str(key)))
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from _walk(item, (*path, str(number)))
    else:
        yield path, value


def _leaves(node: yaml.Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], yaml.Node]]:
    if isinstance(node, yaml.MappingNode) and node.value:
        for key, value in node.value:
            yield from _leaves(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode) and node.value:
        for number, value in enumerate(node.value):
            yield from _leaves(value, (*path, str(number)))
    else:
        yield path, node
