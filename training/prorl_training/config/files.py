"""YAML in and out for configs.

The reader is stricter than YAML 1.1: a key that is given twice is an error (the first value would
be lost without a word), ``off``, ``no`` and ``010`` are text as in YAML 1.2, and ``1e-5`` is a
number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from prorl_common import UserError


class ConfigError(UserError):
    """One or more values of the config are wrong; the message lists all of them."""


class PlainLoader(yaml.SafeLoader):
    """Safe YAML with unique text keys and the plain scalars of YAML 1.2."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Build a mapping. Raises ConstructorError for a key given twice or not text."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            problem = "" if isinstance(key, str) else f"the key {key!r} is not text"
            if isinstance(key, str) and key in seen:
                problem = f"'{key}' is given twice"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.1 or our reader would not read back as text."""


_FLOAT = re.compile(
    r"^[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?$"
    r"|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"
)
_PLAIN = [
    ("bool", re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    ("int", re.compile(r"^[-+]?(0|[1-9][0-9_]*)$"), "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("merge", re.compile(r"^<<$"), "<"),
]
PlainLoader.yaml_implicit_resolvers = {}
for _kind, _pattern, _first in _PLAIN:
    PlainLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", _pattern, list(_first))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))


def read_yaml(text: str, where: str) -> Any:
    """Return the plain values of a YAML text, nothing that JSON could not hold.

    Raises ConfigError naming ``where`` and the line.
    """
    try:
        values = yaml.load(text, Loader=PlainLoader)
        json.dumps(values)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise ConfigError(f"{where}{line}: not valid YAML ({problem})") from error
    except (RecursionError, ValueError, TypeError) as error:
        raise ConfigError(f"{where}: not plain values ({error})") from error
    return values


def write_yaml(values: Mapping[str, Any]) -> str:
    """Return YAML that :func:`read_yaml` reads back equal, floats to the last bit."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False)


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a YAML config file. Raises ConfigError naming the file when it cannot be used."""
    if not path.is_file():
        raise ConfigError(f"no such config file: {path}")
    try:
        text = path.read_text("utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    values = read_yaml(text, str(path))
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected a mapping of settings")
    return values
