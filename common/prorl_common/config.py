"""Settings from a YAML file and ``--set a.b=c`` into one checked tree of pydantic sections.

The reader is stricter than YAML 1.1: a key that is given twice is an error (the first value would
be lost without a word), ``off``, ``no`` and ``010`` are text as in YAML 1.2, and ``1e-5`` is a
number. ``--set`` addresses lists by number (``phases.0.steps=100``, counted from 0) or by an item's
name (``phases.run-8.steps=100``). Every mistake is said at once, unknown keys with the nearest one.

The only module here that needs more than the standard library (pydantic, yaml): import it by its own name.
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
"""The way to a value: keys and list indices."""
SHOWN = 60
"""Characters of a wrong value that a message repeats."""


class ConfigError(UserError):
    """One or more values of the config are wrong; the message lists all of them."""


class Section(BaseModel):
    """Base of every section: immutable, unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False
    )

    @field_validator("*")
    @classmethod
    def _within_reason(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a number above MOST unless its field declares its own upper bound."""
        if isinstance(value, int | float) and abs(value) > MOST:
            bounds = cls.model_fields[str(info.field_name)].metadata
            if not any(hasattr(bound, "le") or hasattr(bound, "lt") for bound in bounds):
                raise ValueError(f"must be at most {MOST:,} in size")
        return value


MOST_VALUES = 1_000_000
"""Values of a YAML text; aliases of aliases make billions in a few lines."""


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


def _size(value: Any, known: dict[int, int]) -> int:
    """Return how many values there are, each alias counted as all that it stands for."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(value)]


def read_yaml(text: str, where: str) -> Any:
    """Return the plain values of a YAML text, nothing that JSON could not hold.

    Raises ConfigError naming ``where`` and the line.
    """
    try:
        values = yaml.load(text, Loader=PlainLoader)
        if _size(values, {}) > MOST_VALUES:
            raise ValueError("more than a million values, most of them by aliases")
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
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a YAML config file. Raises ConfigError naming the file when it cannot be used."""
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
    """Return ``base`` with ``over`` laid on top, section by section of ``model``.

    Lists and mappings that are values of their own are replaced whole, so that a file can also empty them.
    """
    result = dict(base)
    for key, value in over.items():
        below, old = section_at(model, (key,)), result.get(key)
        if below is not None and isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = merge(below, old, value)
        else:
            result[key] = value
    return result


def parse_override(text: str, example: str = "") -> tuple[list[str], Any]:
    """Split ``a.b=c`` into (["a", "b"], value); the value is read as YAML (true, 3, 1e-5, text)."""
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
    """Return ``values`` with every override laid in, later over earlier, and the complaints.

    An override that cannot be read or has no place is left out and named in one line of the second
    result; ``values`` itself is not changed.
    """
    result = dict(values)
    complaints = []
    for text in overrides:
        try:
            result = put(result, *parse(text))
        except ConfigError as error:
            complaints.append(str(error))
    return result, complaints


def put(into: Any, path: Sequence[str], value: Any, done: tuple[str, ...] = ()) -> Any:
    """Return a copy of ``into`` with ``value`` at ``path``; ``done`` is the way that led here.

    Raises ConfigError where the path leads through a plain value or past the end of a list.
    """
    if not path:
        return value
    key, rest = path[0], path[1:]
    here = (*done, key)
    if into is None:
        return {key: put(None, rest, value, here)}
    if isinstance(into, Mapping):
        return {**into, key: put(into.get(key), rest, value, here)}
    section, whole = ".".join(done), ".".join((*done, *path))
    if not isinstance(into, list):
        raise ConfigError(f"{whole}: {section} is a value, not a section")
    if not into:
        raise ConfigError(f"{whole}: this config has no {section}")
    names = [str(item.get("name")) if isinstance(item, Mapping) else "" for item in into]
    if key.isdecimal() and int(key) < len(into):
        place = int(key)
    elif names.count(key) == 1:
        place = names.index(key)
    elif key in names:
        raise ConfigError(
            f"{section}.{key}: {names.count(key)} of {section} have this name; use a number"
        )
    else:
        known = ", ".join(f"{n} ({name})" if name else str(n) for n, name in enumerate(names))
        raise ConfigError(f"{section}.{key} does not exist{nearest(key, names)}; there are {known}")
    return [put(old, rest, value, here) if n == place else old for n, old in enumerate(into)]


def check(model: type[M], values: Mapping[str, Any], complaints: Iterable[str] = ()) -> M:
    """Return the config of plain values, or raise ConfigError with ``complaints``, lines that were found
    before; where there is none, with what ``model`` says as a whole."""
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
    """Return path -> line of what is wrong with ``values``, one a path: unknown keys (with the nearest
    known one), wrong values, and numbers that pydantic lets through (see :func:`unfit_numbers`).

    ``prefix`` is where the values stand in a larger tree; it begins every path.
    """
    found: dict[Where, str] = {}
    for path, line in unfit_numbers(values, model, prefix):
        found.setdefault(path, line)
    try:
        model.model_validate(values)
    except ValidationError as error:
        for detail in error.errors():
            found.setdefault((*prefix, *detail["loc"]), _describe(model, detail, prefix))
    return found


def unfit_numbers(value: Any, annotation: Any, path: Where) -> Iterator[tuple[Where, str]]:
    """Yield what pydantic lets through: numbers that are not finite, true or false for a number."""
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
    """Return the model of the section at a path like ("phases", 0), None for a value or unknown key."""
    found: Any = model
    for key in path:
        found = _below(found, key)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def all_keys(model: type[BaseModel]) -> list[str]:
    """Return the dotted path of every value below ``model``, in the order of the tree; a list is a value."""
    keys = []
    for key in model.model_fields:
        below = section_at(model, (key,))
        keys += [key] if below is None else [f"{key}.{rest}" for rest in all_keys(below)]
    return keys


def _below(annotation: Any, key: Any) -> Any:
    """Return the annotation of a section's key, or of an item of a list or mapping; None for any other."""
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
    shown = repr(error["input"])
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
    return f"{_dotted(path)}: {message} (got {shown})"


def suggest(model: type[BaseModel], path: Where, prefix: Where = ()) -> str:
    """Return `` (did you mean ...?)``: the same key elsewhere, else the nearest one here."""
    key, section = str(path[-1]), section_at(model, path[:-1])
    elsewhere = [known for known in all_keys(model) if known.split(".")[-1] == key]
    if elsewhere and len(path) == 1 and not prefix:
        return f" (did you mean {' or '.join(repr(known) for known in elsewhere[:3])}?)"
    hit = nearest(key, section.model_fields) if section is not None else ""
    before = "".join(f"{part}." for part in (*prefix, *path[:-1]))
    return hit.replace("mean '", f"mean '{before}")


def _dotted(path: Where) -> str:
    return ".".join(str(part) for part in path)
