"""The functions of the language, and the door for those of others.

    # my_functions.py, for `prorl data build --plugin my_functions.py`
    from prorl_datasets import FunctionSpec

    def last_number(text):
        return [w for w in text.split() if w.isdigit()][-1]

    LAST_NUMBER = FunctionSpec(name="last_number", call=last_number)

and in a recipe: ``map: {answer: last_number(solution)}``. Ours take time linear in their arguments, and give
nothing larger than ``MAX_TEXT``. A plug-in's function is its author's own code.
"""

from __future__ import annotations

import inspect
import json as jsons
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prorl_common import Door, PluginError
from prorl_datasets.sources.readers.decode import long_integers
from prorl_datasets.sources.readers.plain import odd_value
from prorl_verifiers.extract import last_boxed

MAX_TEXT = 16 * 2**20
"""Characters of the longest text an expression makes."""
MAX_ITEMS = 200_000
"""Members of the longest list."""
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


class FunctionError(ValueError):
    """A function that has no value for its arguments; says why."""


@dataclass(frozen=True)
class FunctionSpec:
    """A function of a plug-in for expressions: ``call`` takes plain values and returns one.

    A null comes as None. What it raises makes the row a bad one, with its message.
    """

    name: str
    call: Callable[..., Any]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(f"function {self.name!r}: a name is small letters, digits and _")
        if not callable(self.call):
            raise PluginError(f"function {self.name!r} needs call=FUNCTION")
        if self.name in FUNCTION_TABLE or self.name == "row":
            raise PluginError(f"function {self.name!r} is one of the language; choose another name")


FUNCTIONS = Door("prorl.sources", FunctionSpec, "function")


def known_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions there are by name: the language's, then those of plug-ins."""
    return {**FUNCTION_TABLE, **{spec.name: spec.call for spec in FUNCTIONS.all()}, "row": _row}


def _row() -> Mapping[str, Any]:
    """Stand for ``row()``, whose value the walk knows."""
    return {}


def function_help() -> list[tuple[str, str]]:
    """Return (call, meaning) of the language's own functions; what is in brackets may be left out."""
    shown = []
    for name, function in FUNCTION_TABLE.items():
        needed, more = [], ""
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                needed += ["a", "b", "..."]
            elif parameter.default is parameter.empty:
                needed.append(parameter.name)
            else:
                more += f"[, {parameter.name}]"
        meaning = " ".join((function.__doc__ or "").replace("``", "`").split())
        shown.append((f"{name}({', '.join(needed)}{more})", meaning))
    return [*shown, ("row()", 'The whole row, for names with spaces: `row()["final answer"]`.')]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FunctionError(f"wants a text, not {kind(value)}")
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FunctionError(f"wants a number, not {kind(value)}; number(...) reads one from a text")
    return value


def kind(value: Any) -> str:
    """Return what a value is, in the language's words."""
    if value is None:
        return "null"
    names = ((bool, "true or false"), (str, "a text"), (int | float, "a number"))
    for types, name in names:
        if isinstance(value, types):
            return name
    return "a list" if isinstance(value, list | tuple) else "an object"


def is_absent(value: Any) -> bool:
    """Whether a value is null, NaN or a blank text."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def lower(text: Any) -> str:
    """In small letters."""
    return _text(text).lower()


def upper(text: Any) -> str:
    """In capitals."""
    return _text(text).upper()


def strip(text: Any, characters: Any = None) -> str:
    """Without white space (or those characters) at both ends."""
    return _text(text).strip(characters if characters is None else _text(characters))


def length(value: Any) -> int:
    """Characters of a text, members of a list or object."""
    if not isinstance(value, str | list | tuple | Mapping):
        raise FunctionError(f"wants a text, list or object, not {kind(value)}")
    return len(value)


def words(text: Any) -> int:
    """Number of words."""
    return sum(1 for _ in re.finditer(r"\S+", _text(text)))


def contains(text: Any, part: Any) -> bool:
    """Whether a text holds another."""
    return _text(part) in _text(text)


def startswith(text: Any, part: Any) -> bool:
    """Whether a text begins so."""
    return _text(text).startswith(_text(part))


def endswith(text: Any, part: Any) -> bool:
    """Whether a text ends so."""
    return _text(text).endswith(_text(part))


def split(text: Any, separator: Any = None) -> list[str]:
    """The pieces between separators (default: white space)."""
    separator = None if separator is None else _text(separator)
    if separator == "":
        raise FunctionError("wants a separator that is not empty")
    pieces = _text(text).split(separator, MAX_ITEMS)
    if len(pieces) > MAX_ITEMS:
        raise FunctionError(f"gives more than {MAX_ITEMS} pieces")
    return pieces


def join(separator: Any, members: Any) -> str:
    """The texts of a list in one, with the separator between."""
    if not isinstance(members, list | tuple):
        raise FunctionError(f"wants a list, not {kind(members)}")
    texts = [_text(member) for member in members]
    _fits(sum(map(len, texts)) + len(_text(separator)) * len(texts))
    return separator.join(texts)  # type: ignore[no-any-return]


def replace(text: Any, old: Any, new: Any) -> str:
    """With every ``old`` written as ``new``."""
    whole, before, after = _text(text), _text(old), _text(new)
    if before == "":
        raise FunctionError("wants a text to replace that is not empty")
    _fits(len(whole) + max(0, len(after) - len(before)) * whole.count(before))
    return whole.replace(before, after)


def before(text: Any, mark: Any) -> str:
    """What stands in front of the first ``mark``, the whole text without one; no space at its ends."""
    return _text(text).partition(_mark(mark))[0].strip()


def after(text: Any, mark: Any) -> str:
    """What stands behind the last ``mark``, no space at its ends; an error without one."""
    _, found, rest = _text(text).rpartition(_mark(mark))
    if not found:
        raise FunctionError(f"finds no {mark!r} in the text")
    return rest.strip()


def boxed(text: Any) -> str:
    r"""What stands in the last ``\boxed{...}``; an error without one."""
    found = last_boxed(_text(text))
    if found is None:
        raise FunctionError("finds no \\boxed{...} in the text")
    return found


def number(value: Any, otherwise: Any = ...) -> Any:
    """The number that a text is (``1,234.5`` too); ``otherwise`` where it is none, else an error."""
    if isinstance(value, int | float):
        return int(value) if isinstance(value, bool) else value
    plain = value.strip() if isinstance(value, str) else ""
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    match = _NUMBER.fullmatch(plain)
    if match is None or len(plain) > 4000:
        if otherwise is not ...:
            return otherwise
        shown = f"the text {plain[:40]!r}" if isinstance(value, str) else kind(value)
        raise FunctionError(f"reads no number from {shown}")
    return float(plain) if match[2] or match[3] or plain.lstrip("+-")[0] == "." else int(plain)


def text(value: Any) -> str:
    """A number, true, false as text; a list or object as JSON."""
    if isinstance(value, str):
        return value
    with long_integers():
        written = jsons.dumps(value, ensure_ascii=False)
    _fits(len(written))
    return written


def json(text: Any) -> Any:
    """The value that a JSON text holds."""
    try:
        with long_integers():
            read = jsons.loads(_text(text))
    except (ValueError, RecursionError) as error:
        raise FunctionError("wants JSON text") from error
    if (problem := odd_value(read)) is not None:
        raise FunctionError(f"finds {problem}")
    return read


def get(value: Any, key: Any, otherwise: Any = None) -> Any:
    """A member of an object (by name) or list (by place from 0); ``otherwise`` where there is none."""
    if isinstance(value, Mapping):
        return value.get(key, otherwise) if isinstance(key, str) else otherwise
    if isinstance(value, list | tuple) and isinstance(key, int):
        return value[key] if -len(value) <= key < len(value) else otherwise
    return otherwise


def first(*values: Any) -> Any:
    """The first value that is not null, NaN or blank; null where all are."""
    return next((value for value in values if not is_absent(value)), None)


def absent(value: Any) -> bool:
    """Whether a value is null, NaN or a blank text."""
    return is_absent(value)


def letter(place: Any) -> str:
    """``A`` for 0, ``B`` for 1, ... up to ``Z``."""
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < 26:
        raise FunctionError("wants a whole number from 0 to 25")
    return chr(ord("A") + place)


def absolute(value: Any) -> int | float:
    """Without its sign."""
    return abs(_number(value))


def rounded(value: Any, places: Any = 0) -> int | float:
    """Rounded to so many decimals (0 to 15)."""
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places <= 15:
        raise FunctionError("rounds to 0 to 15 decimals")
    if not math.isfinite(_number(value)):
        raise FunctionError("cannot round NaN or infinity")
    return round(_number(value), places) if places else round(_number(value))


def smallest(*values: Any) -> Any:
    """The smallest of several numbers, or of a list of numbers."""
    return min(_numbers(values))


def largest(*values: Any) -> Any:
    """The largest of several numbers, or of a list of numbers."""
    return max(_numbers(values))


def _numbers(values: tuple[Any, ...]) -> list[int | float]:
    members = values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values
    if not members:
        raise FunctionError("wants at least one number")
    return [_number(member) for member in members]


def _mark(mark: Any) -> str:
    if _text(mark) == "":
        raise FunctionError("wants a mark that is not empty")
    return str(mark)


def _fits(size: int) -> None:
    if size > MAX_TEXT:
        raise FunctionError(f"gives a text of more than {MAX_TEXT // 2**20} MiB")


FUNCTION_TABLE: Mapping[str, Callable[..., Any]] = {
    "lower": lower, "upper": upper, "strip": strip, "len": length, "words": words, "contains": contains,
    "startswith": startswith, "endswith": endswith, "split": split, "join": join, "replace": replace,
    "before": before, "after": after, "boxed": boxed, "number": number, "text": text, "json": json, "get": get,
    "first": first, "absent": absent, "letter": letter, "abs": absolute, "round": rounded, "min": smallest,
    "max": largest,
}  # fmt: skip
"""Functions of the language itself."""
