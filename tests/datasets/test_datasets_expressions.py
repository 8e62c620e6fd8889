"""The expression language: what it can say, what it refuses and how, and that nothing in it can run or grow."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from prorl_common import PluginError
from prorl_datasets.expressions import (
    ExpressionError,
    FunctionSpec,
    condition,
    function_help,
    parse,
    value_of,
)

ROW: dict[str, Any] = {
    "level": "Level 3", "n": 3, "x": 2.5, "nothing": None, "nan": math.nan, "flag": True,
    "solution": "so 3 + 4 = 7\n#### 1,234", "boxed": r"thus \boxed{\frac{1}{2}}", "tags": ["algebra", "easy"],
    "meta": {"source": "amc", "scores": [1, 2]}, "final answer": "x", "packed": '{"a": [1, {"b": "c"}]}', "é": "ü",
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("n", 3), ("n + 1 == 4", True), ("(n + x) * 2 - 1", 10.0), ("7 // 2 % 2", 1), ("-n / 2", -1.5),
        ("1 < n <= 3", True), ("n > 2 and not flag or x == 2.5", True), ("n if flag else x", 3),
        ('"algebra" in tags', True), ('"hard" not in tags', True), ("n in [1, 3]", True), ('"source" in meta', True),
        ("nothing is null", True), ("n is not None", True), ("nothing == 3", False), ("true", True),
        ("tags[0]", "algebra"), ("tags[-1][0:2]", "ea"), ('meta["scores"][1]', 2), ('row()["final answer"]', "x"),
        ('get(meta, "absent", "?")', "?"), ("get(tags, 9)", None), ("first(nothing, nan, n)", 3),
        ('number(after(solution, "####"))', 1234), ('number(split(level)[1]) >= 3', True), ('number("x", 0)', 0),
        ('number("1e3")', 1000.0), ('number("-.5")', -0.5), ("boxed(boxed)", r"\frac{1}{2}"),
        ('strip(before(solution, "+"))', "so 3"), ('replace(lower(level), "level ", "")', "3"),
        ('startswith(level, "Level") and endswith(level, "3") and contains(level, " ")', True),
        ('len(tags) + len("abc") + words("a b  c")', 8), ('join(", ", tags)', "algebra, easy"),
        ('upper(letter(n))', "D"), ('json(packed)["a"][1]["b"]', "c"), ("text(n) + text(tags)", '3["algebra", "easy"]'),
        ('f"{n}: {level}"', "3: Level 3"), ("min(3, n, x) + max([1, 2])", 4.5), ("round(abs(-x * 1.234), 2)", 3.08),
        ("é", "ü"), ("absent(nan) and absent(nothing) and not absent(n)", True), ('"a\\\\b"', r"a\b"),
    ],
)  # fmt: skip
def test_expressions_have_the_value_that_they_read_like(source: str, value: Any) -> None:
    assert value_of(parse(source), ROW) == value


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("levle > 2", "character 1: no column 'levle' (did you mean 'level'?); columns here: level, n"),
        ("n > 2 and sol", "character 11: no column 'sol'"),
        ("level > 2", "cannot order a text and a number; number(...) reads a text"),
        ("level == 3", "cannot compare a text with a number; number(...) reads"),
        ("level in [1, 2]", "cannot compare a text with a number"),
        ("flag == 1", "cannot compare true or false with a number"),
        ("nothing > 2", "cannot order null and a number; first(column, ...) stands in for null"),
        ("n and flag", "wants true or false, not a number; compare it"),
        ("n + level", "cannot add a number and a text; number(...)"),
        ("n / 0", "division by zero"),
        ('meta["suorce"]', "no 'suorce' (did you mean 'source'?) here; there are source, scores"),
        ("tags[7]", "no member 7: there are 2"),
        ("n[0]", "a number has no members"),
        ("lower(n)", "lower wants a text, not a number"),
        ('after(level, "####")', "after finds no '####' in the text"),
        ("boxed(level)", "boxed finds no \\boxed{...}"),
        ("number(level)", "number reads no number from the text 'Level 3'"),
        ("json(level)", "json wants JSON text"),
        ("letter(30)", "letter wants a whole number from 0 to 25"),
        ("n is 3", "'is' asks for null alone; use =="),
        ('meta["é"] == n', "character 6: no 'é'"),
    ],
)  # fmt: skip
def test_a_row_without_a_value_says_where_and_how_to_mend_it(source: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        value_of(parse(source), ROW)
    assert said in str(caught.value) and source in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "an expression is empty"),
        ("n >", "not an expression (invalid syntax)"),
        ("level.lower()", "write lower(text, ...), not text.lower(...)"),
        ("().__class__.__bases__", "there are no attributes"),
        ("n ** 999999999", "there are no powers"),
        ("[t for t in tags]", "there are no loops"),
        ("(lambda: 1)()", "a function is called by its name"),
        ("lambda: 1", "there are no functions of one's own here"),
        ('__import__("os")', "unknown function '__import__'"),
        ("contians(level, 'L')", "unknown function 'contians' (did you mean 'contains'?)"),
        ("len()", "len does not take 0 values"),
        ("len(*tags)", "a function takes plain values"),
        ("len(value=tags)", "a function takes plain values"),
        ("(n := 3)", "the language has no NamedExpr"),
        ("{1: 2}", "the language has no Dict"),
        ("tags[0, 1:2]", "a piece is taken by one pair of places"),
        ("[*tags]", "the language has no Starred"),
        ('f"{n:>999999999}"', "in an f-text only {value}, without format"),
        ("n << 9999999", "the language has no LShift"),
        ("b'x'", "a value is a text, a number, true, false or null"),
        ("1j", "a value is a text, a number"),
        (r'"\frac"', "write a backslash in a text twice"),
        (r'"\d"', "write a backslash in a text twice"),
        ("(" * 300 + ")" * 300, "not an expression"),
        ("-" * 3000 + "1", "nested"),
        ("a" * 5000, "has 5000 characters, at most 4000"),
        ("await n", "the language has no Await"),
        ("yield", "not an expression"),
        ("import os", "not an expression"),
        ("n; n", "not an expression"),
        ("n\x00", "not an expression"),
    ],
)  # fmt: skip
def test_what_the_language_does_not_have_is_refused_before_a_row_is_seen(
    source: str, said: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(source)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def test_a_condition_is_true_or_false_and_nothing_else() -> None:
    assert condition(parse("n == 3"), ROW) is True
    with pytest.raises(ExpressionError, match="a condition is true or false, this is a text"):
        condition(parse("level"), ROW)


@pytest.mark.parametrize(
    "source",
    [
        "replace(replace(big, 'a', big), 'a', big)",
        "join(big, split(spaced))",
        "big + big + big + big + big + big",
        "[big + big, big + big, big + big, big + big, big + big, big + big]",
        "digits * digits * digits * digits * digits * digits * digits",
        "split(many, ',')",
        "f'{big}{big}{big}{big}{big}{big}{big}{big}{big}{big}'",
        "round(n, 999999999)",
        "json(deep)",
    ],
)
def test_values_that_would_grow_are_refused_and_quickly(source: str) -> None:
    big = "a" * 8_000_000
    row = {
        "big": big, "spaced": "a " * 1000, "digits": int("9" * 2000), "many": "," * 300_000, "n": 1.0,
        "deep": "[" * 100_000 + "]" * 100_000,
    }  # fmt: skip
    begun = time.monotonic()
    with pytest.raises(ExpressionError):
        value_of(parse(source), row)
    assert time.monotonic() - begun < 20  # it is milliseconds; unbounded ones never end


def test_a_column_goes_before_a_word_of_the_language_and_a_text_over_lines_is_one_line() -> None:
    assert value_of(parse("true"), {"true": 7}) == 7
    assert value_of(parse("1 +\n  2"), {}) == 3


def test_a_function_of_a_plugin_has_a_name_of_its_own() -> None:
    assert FunctionSpec("last_number", len).name == "last_number"
    for name in ("lower", "row", "Not-a-name"):
        with pytest.raises(PluginError):
            FunctionSpec(name, len)


def test_every_function_says_what_it_does() -> None:
    for call, meaning in function_help():
        assert call.endswith(")") and meaning.endswith((".", "`."))
