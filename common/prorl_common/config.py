"""Read settings from YAML files and from options ``--set a.b=c`` into pydantic models.

The YAML dialect is strict: duplicate keys are errors, ``off``, ``no`` and ``010`` are strings, ``1e-5`` is a number.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from prorl_common.errors import UserError, nearest, plain_words, why_unreadable
from prorl_common.seeds import MOST

M = TypeVar("M", bound=BaseModel)
Where = tuple[Any, ...]
"""A path to a setting: keys and list indices."""
SHOWN = 60
"""Maximum number of characters of an invalid value in an error message."""


class ConfigError(UserError):
    """One or more settings are wrong; the message lists all of them."""


class Section(BaseModel):
    """Base class of the pydantic models for settings. Instances are immutable and reject unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False
    )

    @field_validator("*")
    @classmethod
    def _within_reason(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, int | float) and abs(value) > MOST:
            bounds = cls.model_fields[str(info.field_name)].metadata
            if not any(hasattr(bound, "le") or hasattr(bound, "lt") for bound in bounds):
                raise ValueError(f"must be between -{MOST:,} and {MOST:,}")
        return value


MOST_VALUES = 1_000_000
"""Maximum number of values in a YAML document, because nested aliases can expand to billions of values."""


class PlainLoader(yaml.SafeLoader):
    """A safe YAML loader that reads ``off`` and ``010`` as strings and ``1e-5`` as a number. Keys must be strings."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Build a mapping. Raises ConstructorError for repeated or non-string keys."""
        keys: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            problem = "" if isinstance(key, str) else f"the key {key!r} is not text"
            if isinstance(key, str) and key in keys:
                problem = f"'{key}' is given twice"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            keys.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    pass


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


def _size(value: Any, sizes: dict[int, int]) -> int:
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in sizes:
        parts = value.values() if isinstance(value, dict) else value
        sizes[id(value)] = 1 + sum(_size(part, sizes) for part in parts)
    return sizes[id(value)]


def read_yaml(text: str, where: str) -> Any:
    """Parse YAML. Raises ConfigError if it is invalid or JSON cannot represent it.

    The error message begins with ``where``.
    """
    try:
        values = yaml.load(text, Loader=PlainLoader)
        if _size(values, {}) > MOST_VALUES:
            raise ValueError("the YAML aliases expand to more than a million values")
        json.dumps(values)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise ConfigError(f"{where}{line}: not valid YAML ({problem})") from error
    except (RecursionError, ValueError, TypeError) as error:
        raise ConfigError(f"{where}: JSON cannot represent these values ({error})") from error
    return values


def write_yaml(values: Mapping[str, Any]) -> str:
    """Return YAML from which :func:`read_yaml` reads exactly equal values."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def read_config_file(path: Path) -> dict[str, Any]:
    """Return the settings in a YAML file. Raises ConfigError if it is invalid."""
    if not path.is_file():
        raise ConfigError(f"no such config file: {path}")
    try:
        text = path.read_text("utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read: {why_unreadable(error)}") from error
    values = read_yaml(text, str(path))
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected a mapping of settings")
    return values


def merge(
    model: type[BaseModel], base: Mapping[str, Any], over: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``base`` with the values of ``over``. Only sections are merged recursively."""
    result = dict(base)
    for key, value in over.items():
        below, old = section_at(model, (key,)), result.get(key)
        if below is not None and isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = merge(below, old, value)
        else:
            result[key] = value
    return result


def parse_override(text: str, example: str = "") -> tuple[list[str], Any]:
    """Split ``a.b=c`` into (["a", "b"], value); the value is parsed as YAML. Raises ConfigError."""
    key, equals, value = text.partition("=")
    path = [part.strip() for part in key.split(".")]
    if not equals or not all(path):
        such = f", e.g. {example}" if example else ""
        raise ConfigError(f"--set {text}: write it as section.key=value{such}")
    try:
        return path, read_yaml(value, "value")
    except ConfigError as error:
        raise ConfigError(f"--set {text}: the value is not valid YAML") from error


def apply_overrides(
    values: Mapping[str, Any],
    overrides: Iterable[str],
    parse: Callable[[str], tuple[list[str], Any]] = parse_override,
) -> tuple[dict[str, Any], list[str]]:
    """Apply overrides such as ``a.b=c`` to a copy of ``values``. Returns (copy, messages about invalid overrides)."""
    result = dict(values)
    complaints = []
    for text in overrides:
        try:
            result = put(result, *parse(text))
        except ConfigError as error:
            complaints.append(str(error))
    return result, complaints


def put(into: Any, path: Sequence[str], value: Any, done: tuple[str, ...] = ()) -> Any:
    """Return a copy of ``into`` with ``value`` at ``path``. List items are addressed by index or name.

    ``done`` is the path of ``into``, for the messages of ConfigError.
    """
    if not path:
        return value
    key, below = path[0], path[1:]
    current = (*done, key)
    if into is None:
        return {key: put(None, below, value, current)}
    if isinstance(into, Mapping):
        return {**into, key: put(into.get(key), below, value, current)}
    section, whole = ".".join(done), ".".join((*done, *path))
    if not isinstance(into, list):
        raise ConfigError(f"{whole} does not exist: {section} is a value, not a section")
    if not into:
        raise ConfigError(f"{whole} does not exist: {section} is empty in this config")
    names = [str(item.get("name")) if isinstance(item, Mapping) else "" for item in into]
    if key.isdecimal() and int(key) < len(into):
        place = int(key)
    elif names.count(key) == 1:
        place = names.index(key)
    elif key in names:
        raise ConfigError(
            f"{section}.{key}: {names.count(key)} entries of {section} have this name; use the entry's number"
        )
    else:
        choices = ", ".join(f"{n} ({name})" if name else str(n) for n, name in enumerate(names))
        raise ConfigError(
            f"{section}.{key} does not exist{nearest(key, names)}; there are {choices}"
        )
    return [put(old, below, value, current) if n == place else old for n, old in enumerate(into)]


def check(model: type[M], values: Mapping[str, Any], complaints: Iterable[str] = ()) -> M:
    """Validate ``values`` as a ``model``. Raises ConfigError with ``complaints``, if any, or all errors found."""
    lines = list(complaints)
    if not lines:
        try:
            return model.model_validate(values)
        except ValidationError as error:
            lines = [_describe(model, detail, ()) for detail in error.errors()]
    lines = list(dict.fromkeys(" ".join(line.split()) for line in lines))
    raise ConfigError(
        lines[0] if len(lines) == 1 else "\n  ".join([f"{len(lines)} settings are wrong:", *lines])
    )


def mistakes(
    model: type[BaseModel], values: Mapping[str, Any], prefix: Where = ()
) -> dict[Where, str]:
    """Return {path: message} of unknown keys and invalid values. ``prefix`` is prepended to each path."""
    messages: dict[Where, str] = {}
    for path, line in unfit_numbers(values, model, prefix):
        messages.setdefault(path, line)
    try:
        model.model_validate(values)
    except ValidationError as error:
        for detail in error.errors():
            messages.setdefault((*prefix, *detail["loc"]), _describe(model, detail, prefix))
    return messages


def unfit_numbers(value: Any, annotation: Any, path: Where) -> Iterator[tuple[Where, str]]:
    """Yield (path, message) for each infinity, NaN or boolean where a number is expected. Pydantic accepts them."""
    options = (
        get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    )
    plain = {getattr(option, "__origin__", option) for option in options}
    if isinstance(value, float) and not math.isfinite(value):
        yield path, f"{_dotted(path)}: must be a finite number (got {value})"
    elif isinstance(value, bool) and {int, float} & plain and bool not in plain:
        yield path, f"{_dotted(path)}: must be a number (got {str(value).lower()})"
    elif isinstance(value, Mapping | list | tuple):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from unfit_numbers(item, _below(annotation, key), (*path, key))


def section_at(model: type[BaseModel], path: Where) -> type[BaseModel] | None:
    """Return the model of the section at a path such as ("phases", 0), or None if there is no section."""
    annotation: Any = model
    for key in path:
        annotation = _below(annotation, key)
    return (
        annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    )


def all_keys(model: type[BaseModel]) -> list[str]:
    """Return the dotted paths of all settings of ``model``. A list counts as one setting."""
    keys = []
    for key in model.model_fields:
        below = section_at(model, (key,))
        keys += [key] if below is None else [f"{key}.{inner}" for inner in all_keys(below)]
    return keys


def _below(annotation: Any, key: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(key))
        return None if field is None else field.annotation
    arguments = get_args(annotation)
    if get_origin(annotation) in (dict, Mapping):
        return arguments[1]
    return arguments[0] if get_origin(annotation) in (list, tuple) else None


def _describe(model: type[BaseModel], error: ErrorDetails, prefix: Where) -> str:
    path = (*prefix, *error["loc"])
    kind, message = error["type"], plain_words(error["msg"])
    if kind == "extra_forbidden":
        return f"unknown setting '{_dotted(path)}'{suggest(model, error['loc'], prefix)}"
    if kind == "missing":
        return f"{_dotted(path)}: is missing"
    if not error["loc"]:
        return message
    if kind in ("model_type", "model_attributes_type"):
        message = "expected a mapping of settings"
    elif kind in ("tuple_type", "list_type"):
        message = "expected a list"
    if kind == "value_error" and not isinstance(error["input"], str | int | float):
        return f"{_dotted(path)}: {message}"
    value = repr(error["input"])
    value = value if len(value) <= SHOWN else f"{value[:SHOWN]}..."
    return f"{_dotted(path)}: {message} (got {value})"


def suggest(model: type[BaseModel], path: Where, prefix: Where = ()) -> str:
    """Return `` (did you mean ...?)`` with similar keys for the unknown key at ``path``, or ""."""
    key, section = str(path[-1]), section_at(model, path[:-1])
    elsewhere = [dotted for dotted in all_keys(model) if dotted.split(".")[-1] == key]
    if elsewhere and len(path) == 1 and not prefix:
        return f" (did you mean {' or '.join(repr(dotted) for dotted in elsewhere[:3])}?)"
    hit = nearest(key, section.model_fields) if section is not None else ""
    before = "".join(f"{part}." for part in (*prefix, *path[:-1]))
    return hit.replace("mean '", f"mean '{before}")


def _dotted(path: Where) -> str:
    return ".".join(str(part) for part in path)
