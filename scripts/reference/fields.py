"""The fields of a pydantic model in words: type, bounds, default and meaning.

The meaning of a field is the string below it in the class.
"""

from __future__ import annotations

import ast
import inspect
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from reference.markdown import table


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return the meaning of each field: the string below it in the source of the class or a base class."""
    found: dict[str, str] = {}
    for part in reversed(
        [c for c in model.__mro__ if issubclass(c, BaseModel) and c is not BaseModel]
    ):
        body = ast.parse(inspect.getsource(part)).body[0]
        assert isinstance(body, ast.ClassDef)
        key = ""
        for node in body.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                key = node.target.id
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and key:
                found[key] = " ".join(str(node.value.value).split()).replace("``", "`")
                key = ""
    return found


def said_of(model: type[BaseModel]) -> str:
    """Return the docstring of a model on one line."""
    return " ".join((inspect.getdoc(model) or "").replace("``", "`").split())


def type_text(annotation: Any) -> str:
    """Return an annotation in words, such as a Literal's choices or a type's name."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = bounds_text(args[1:])
        return f"{type_text(args[0])}, {bounds}" if bounds else type_text(args[0])
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in args)
    if origin in (Union, UnionType):
        return " or ".join("null" if part is NoneType else type_text(part) for part in args)
    if origin is dict:
        return f"mapping to {type_text(args[1])}"
    if origin in (list, tuple):
        return f"list of {type_text(args[0])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.__name__.removesuffix("Config").removesuffix("Settings")
    names = {int: "integer", float: "number", str: "string", bool: "boolean"}
    return names.get(annotation, "any value")


def bounds_text(rules: Any) -> str:
    """Return the bounds set by a field's constraints, like ``> 0, <= 1``."""
    signs = (("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"))
    flat = [rule for part in rules for rule in getattr(part, "metadata", [part])]
    found = [
        f"{sign} {getattr(rule, name)}"
        for rule in flat
        for name, sign in signs
        if getattr(rule, name, None) is not None
    ]
    return ", ".join(found)


def values_text(field: FieldInfo) -> str:
    """Return a field's type with its bounds."""
    bounds = bounds_text(field.metadata)
    return f"{type_text(field.annotation)}, {bounds}" if bounds else type_text(field.annotation)


def default_text(field: FieldInfo) -> str:
    """Return a field's default in YAML."""
    value = field.get_default(call_default_factory=True)
    if field.is_required() or value is PydanticUndefined:
        return "required"
    if value is None or isinstance(value, bool):
        return f"`{'null' if value is None else str(value).lower()}`"
    if isinstance(value, BaseModel):
        return "its defaults"
    if value == "" or (isinstance(value, (tuple, dict, list)) and not value):
        return "empty"
    return f"`{value}`"


def fields_table(model: type[BaseModel], hidden: tuple[str, ...] = ()) -> str:
    """Return a table of a model's fields except ``hidden`` ones, with type, default and meaning."""
    words = meanings(model)
    rows = [
        (f"`{key}`", values_text(field), default_text(field), words.get(key, ""))
        for key, field in model.model_fields.items()
        if key not in hidden
    ]
    return table(("field", "type", "default", "meaning"), rows)
