"""The texts of a topic with ``{slots}``, in the YAML file beside the topic's module, and words for all topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random
from string import Template

import yaml


class Wordings:
    """The texts for the module ``name``: its YAML file maps a key to one text, or to a list that say the same.

    Slots are filled as ``str.format`` fills them, those of source code are written ``$slot`` or ``${slot}``. The
    file is read once, when it is first needed. An unknown key and a slot without a value raise KeyError.
    """

    def __init__(self, name: str) -> None:
        self._package, _, self._topic = name.rpartition(".")

    def draw(self, rng: Random, key: str, /, **slots: object) -> str:
        """Draw one of the texts of ``key``."""
        return rng.choice(self._texts(key)).format(**slots)

    def later(self, key: str, /, **slots: object) -> Callable[[Random], str]:
        """Return the function that draws one of the texts of ``key``, for tables made at import."""
        return lambda rng: self.draw(rng, key, **slots)

    def all(self, key: str, /, **slots: object) -> tuple[str, ...]:
        """Return every text of ``key``, in the order of the file."""
        return tuple(text.format(**slots) for text in self._texts(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return every text of ``key`` with its slots open."""
        return tuple(self._texts(key))

    def one(self, key: str, /, **slots: object) -> str:
        """Return the text of a key that has only one."""
        (text,) = self._texts(key)
        return text.format(**slots)

    def source(self, key: str, /, **slots: object) -> str:
        """Return the source code of a key."""
        (text,) = self._texts(key)
        return Template(text).substitute(slots)

    def _texts(self, key: str) -> Sequence[str]:
        return _read(self._package, self._topic)[key]


@cache
def _read(package: str, topic: str) -> Mapping[str, Sequence[str]]:
    text = (files(package) / f"{topic}.yaml").read_text(encoding="utf-8")
    texts: Mapping[str, str | list[str]] = yaml.load(text, Loader=_loader())
    return {key: [value] if isinstance(value, str) else value for key, value in texts.items()}


def _loader() -> type[yaml.SafeLoader | yaml.CSafeLoader]:
    """Return the fastest of PyYAML's safe loaders that is installed."""
    return yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


def ordinal(n: int) -> str:
    """Write ``1st``, ``2nd``, ``3rd``, ``11th``, ``21st``."""
    last = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{'th' if n % 100 in (11, 12, 13) else last}"
