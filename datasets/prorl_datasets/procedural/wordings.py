"""Loads texts with ``{slots}`` from the YAML file next to a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from random import Random
from string import Template
from typing import Any, TypeVar

import yaml

Option = TypeVar("Option")


class Wordings:
    """The texts of the module ``name``; its YAML file maps a key to one text or a list of equivalent texts.

    Slots have the syntax of ``str.format``, or in source code that of ``string.Template`` (``$slot``). Raises KeyError
    for unknown keys and missing slots.
    """

    def __init__(self, name: str) -> None:
        self._package, _, self._topic = name.rpartition(".")

    def draw(self, rng: Random, key: str, /, **slots: object) -> str:
        return rng.choice(self._texts(key)).format(**slots)

    def later(self, key: str, /, **slots: object) -> Callable[[Random], str]:
        """Return a function that draws one of the texts of ``key``."""
        return lambda rng: self.draw(rng, key, **slots)

    def all(self, key: str, /, **slots: object) -> tuple[str, ...]:
        return tuple(text.format(**slots) for text in self._texts(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return all texts of ``key`` with unfilled slots."""
        return tuple(self._texts(key))

    def one(self, key: str, /, **slots: object) -> str:
        """Return the only text of ``key``."""
        (text,) = self._texts(key)
        return text.format(**slots)

    def source(self, key: str, rule: Any = None, /, **slots: object) -> str:
        """Return the source code of ``key``; ``slots`` and the fields of the dataclass ``rule`` fill its slots."""
        (text,) = self._texts(key)
        parts = {} if rule is None else {f.name: getattr(rule, f.name) for f in fields(rule)}
        return Template(text).substitute(parts, **slots)

    def _texts(self, key: str) -> Sequence[str]:
        return _read(self._package, self._topic)[key]


@cache
def _read(package: str, topic: str) -> Mapping[str, Sequence[str]]:
    text = (files(package) / f"{topic}.yaml").read_text(encoding="utf-8")
    texts: Mapping[str, str | list[str]] = yaml.load(text, Loader=_loader())
    return {key: [value] if isinstance(value, str) else value for key, value in texts.items()}


def _loader() -> type[yaml.SafeLoader | yaml.CSafeLoader]:
    return yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


def pick(rng: Random, *options: Option) -> Option:
    return rng.choice(options)


def ordinal(n: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{'th' if n % 100 in (11, 12, 13) else last}"
