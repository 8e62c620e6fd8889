"""Encode numpy, pandas and sortedcontainers values; docs/concepts/sandbox.md lists the supported types."""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Bind builtins before any program runs; see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

SCALAR, ARRAY, SERIES, INDEX, FRAME = "scalar", "array", "series", "index", "frame"
TAGS = (SCALAR, ARRAY, SERIES, INDEX, FRAME)
MARK = Ellipsis
"""First item of the tuple that encodes a value; a program's own values cannot contain it."""
_KINDS = "biufcSUO"
_DATES, _SPANS = "M", "m"
_MOST = 1_000_000
_TEXT = "str"


class Refused(Exception):
    """Raised if a numpy or pandas value has a dtype or size that cannot be encoded."""


def plain_or_tagged(value: Any) -> tuple[str, Any] | None:
    """Encode a numpy or pandas value as (tag, parts), or a sortedcontainers value as ("", built-in value).

    Returns None for values of other types. Raises Refused.
    """
    kind, modules = type(value), sys.modules
    numpy = modules.get("numpy")
    if numpy is not None:
        if kind is numpy.ndarray:
            return ARRAY, [*_flat(value, numpy), list(value.shape)]
        if isinstance(value, numpy.generic) and kind is numpy.dtype(kind).type:
            return SCALAR, _flat(numpy.asarray(value).reshape(1), numpy)
    pandas = modules.get("pandas")
    if pandas is not None and numpy is not None:
        if kind is pandas.Series:
            return SERIES, [*_column(value, numpy), value.index, value.name]
        if kind in (pandas.Index, pandas.RangeIndex, pandas.DatetimeIndex):
            return INDEX, [*_column(value, numpy), value.name]
        if kind is pandas.DataFrame:
            if value.shape[1] and not value.columns.is_unique:
                raise Refused("a DataFrame with duplicate column names is not supported")
            columns = [_column(value.iloc[:, at], numpy) for at in range(value.shape[1])]
            return FRAME, [list(value.columns), columns, value.index]
    sorting = modules.get("sortedcontainers")
    if sorting is not None:
        if kind is sorting.SortedList or kind is sorting.SortedKeyList:
            return "", list(value)
        if kind is sorting.SortedSet:
            return "", set(value)
        if kind is sorting.SortedDict:
            return "", dict(value)
    return None


def _flat(array: Any, numpy: Any) -> list[Any]:
    dtype = array.dtype
    if array.size > _MOST:
        raise Refused(f"the value has more than {_MOST} items")
    if dtype.kind == _DATES:
        return [dtype.str, numpy.datetime_as_string(array.reshape(-1)).tolist()]
    if dtype.kind == _SPANS:
        return [dtype.str, array.reshape(-1).astype("int64").tolist()]
    if dtype.kind not in _KINDS or dtype.names is not None:
        raise Refused(f"a numpy value of dtype {dtype} is not supported")
    values = array.reshape(-1)
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        values = values.astype("complex128" if dtype.kind == "c" else "float64")
        dtype = values.dtype
    return [dtype.str, values.tolist()]


def _column(values: Any, numpy: Any) -> list[Any]:
    if isinstance(values.dtype, numpy.dtype):
        return _flat(values.to_numpy(), numpy)
    if str(values.dtype) == _TEXT:
        return [_TEXT, values.to_numpy(dtype=object).tolist()]
    raise Refused(f"a pandas value of dtype {values.dtype} is not supported")


def as_plain(tag: str, parts: Any) -> Any:
    """Convert a tagged value to built-in types. Raises ValueError for malformed parts."""
    if tag == SCALAR:
        _, (value,) = parts
        return value
    if tag == ARRAY:
        _, values, shape = parts
        return _nested(values, shape)
    if tag == FRAME:
        names, columns, _ = parts
        return {name: values for name, (_, values) in zip(names, columns, strict=True)}
    return parts[1]


def check(tag: str, parts: Any) -> int:
    """Raise ValueError if ``parts`` are malformed. Returns the decoding cost of an array, else 0."""
    sizes = {SCALAR: 2, ARRAY: 3, SERIES: 4, INDEX: 3, FRAME: 3}
    if type(parts) is not list or len(parts) != sizes[tag]:
        raise ValueError("wrong number of parts")
    columns = parts[1] if tag == FRAME else [parts[:2]]
    if type(columns) is not list:
        raise ValueError("the columns are not a list")
    for column in columns:
        if type(column) is not list or len(column) != 2:
            raise ValueError("a column is not [dtype, values]")
        if type(column[0]) is not str or type(column[1]) is not list:
            raise ValueError("a column is not [dtype, values]")
        if not _is_dtype(column[0]):
            raise ValueError("unsupported dtype")
    if tag == FRAME and (type(parts[0]) is not list or len(parts[0]) != len(columns)):
        raise ValueError("the column names do not match the columns")
    if tag == SCALAR and len(parts[1]) != 1:
        raise ValueError("a scalar must have one value")
    if tag == ARRAY:
        return _check_shape(parts[2], len(parts[1]))
    return 0


def _check_shape(shape: Any, size: int) -> int:
    """Return the decoding cost of an array. Raises ValueError if its shape does not have ``size`` elements."""
    if type(shape) is not list or len(shape) > 64:
        raise ValueError("the shape does not fit the values")
    lists, product = 0, 1
    for length in shape:
        if type(length) is not int or not 0 <= length <= _MOST:
            raise ValueError("the shape does not fit the values")
        lists += product
        product *= length
    if product != size:
        raise ValueError("the shape does not fit the values")
    return lists + 9 * max(0, lists - 2 * size)


def _is_dtype(text: str) -> bool:
    if text == _TEXT:
        return True
    name = text.lstrip("<>|=")
    kind, size = name[:1], name[1:]
    if kind and kind in _DATES + _SPANS:
        return len(size) <= 12
    return kind != "" and kind in _KINDS and len(size) <= 6 and (size == "" or size.isdigit())


def _nested(values: list[Any], shape: list[int]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    size = len(values) // shape[0] if shape[0] else 0
    if not size:
        return [_nested([], shape[1:]) for _ in range(shape[0])]
    return [_nested(values[at : at + size], shape[1:]) for at in range(0, len(values), size)]


def build(tag: str, parts: list[Any]) -> Any:
    """Return the numpy or pandas value that ``parts`` describe."""
    import numpy

    if tag == SCALAR:
        return _array(parts, numpy)[0]
    if tag == ARRAY:
        return _array(parts, numpy).reshape(parts[2])
    import pandas

    if tag == SERIES:
        return pandas.Series(_pandas_values(parts, numpy, pandas), index=parts[2], name=parts[3])
    if tag == INDEX:
        return pandas.Index(_pandas_values(parts, numpy, pandas), name=parts[2])
    names, columns, index = parts
    made = {
        at: pandas.Series(_pandas_values(column, numpy, pandas), index=index)
        for at, column in enumerate(columns)
    }
    frame = pandas.DataFrame(made, index=index)
    frame.columns = pandas.Index(names) if names else pandas.Index([], dtype=object)
    return frame


def _array(parts: list[Any], numpy: Any) -> Any:
    dtype = numpy.dtype(parts[0])
    if dtype.kind != "O":
        return numpy.array(parts[1], dtype=dtype)
    made = numpy.empty(len(parts[1]), dtype=object)
    for at, item in enumerate(parts[1]):
        made[at] = item
    return made


def _pandas_values(parts: list[Any], numpy: Any, pandas: Any) -> Any:
    if parts[0] == _TEXT:
        return pandas.array(parts[1], dtype=_TEXT)
    return _array(parts, numpy)
