"""Hostile rows become a drop, an unusable row or one clear line, in time linear in the text."""

from __future__ import annotations

import json
import pickle
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets import DatasetError
from prorl_datasets.benchmarks import benchmark_questions, read_benchmark
from prorl_datasets.benchmarks.asserts import UnreadableTests, as_tests
from prorl_datasets.benchmarks.code_rows import PackedError, pickled_text
from prorl_datasets.candidate import Drop, Row
from prorl_datasets.sources.adapters.code_sets import decoded_tests
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.sources.adapters.math_sets import plain_answer
from prorl_datasets.sources.adapters.worked import options_in, short_answer
from prorl_datasets.sources.readers import iter_rows
from prorl_datasets.sources.readers.decode import odd_value, one_line
from prorl_datasets.sources.row_files import adapted
from prorl_datasets.spec import ADAPTERS
from prorl_datasets.text.index import BenchmarkIndex
from prorl_datasets.text.words import words

LARGE = 10**5000
HANG = 8.0
"""Seconds that a linear search never needs; a quadratic one takes minutes to hours."""
TESTS = {"ground_truth": json.dumps({"inputs": ["1"], "outputs": ["2"]})}
BASES: dict[str, dict[str, Any]] = {
    "deepscaler": {"problem": "p", "answer": "1", "solution": ""},
    "verl": {
        "prompt": "p", "reward_model": {"ground_truth": "1"}, "ability": "math",
        "data_source": "x", "extra_info": {"index": 1},
    },
    "math": {"problem": "p", "answer": "3", "level": 1, "subject": "s"},
    "eurus_code": {"ability": "code", "prompt": "p", "reward_model": TESTS, "data_source": "taco"},
    "mbpp": {"text": "t", "test_list": ["assert f(1) == 1"], "code": "c", "task_id": 1},
    "scp116k": {
        "problem": "Find x.", "extract_solution": "$x = 2.5$ m", "r1_response": "\\boxed{2.5}",
        "domain": "d",
    },
    "goosereason": {"question": "q [MASK]", "options": ["a", "b"], "answer": "A"},
    "nemotron_if": {
        "input": "p", "license": "l",
        "args": {"instruction_id_list": ["punctuation:no_comma"], "instruction_kwargs": [{}]},
    },
    "nemotron_rl_if": {
        "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}], "prompt": "p", "id": 1,
        "grading_mode": "g",
    },
    "rlvr_ifeval": {
        "messages": "p", "ground_truth": '{"func_name": "validate_lowercase"}', "constraint_type": "c",
    },
}  # fmt: skip


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield (*before, key)
        if isinstance(part, dict | list):
            yield from places(part, (*before, key))


def replaced(value: Any, place: tuple[Any, ...], other: Any) -> Any:
    if not place:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], other)
    return copy


ODD: list[Any] = [
    LARGE, [LARGE], {"a": -LARGE}, float("inf"), float("nan"), nested(5000), "\ud800", b"x", "\x00",
    None, "", [], {}, 3, True, [None], [{}], {"ground_truth": "1", "index": LARGE}, "[" * 9000, '{"a":' * 9000, '{"ground_truth":' + "9" * 5000 + "}",
    [{"role": "user", "content": nested(3000)}], {"a": {"b": b"x"}},
]  # fmt: skip


def convert(name: str, raw: dict[str, Any], where: str = "f:1", index: int = 0) -> Row | Drop:
    adapter = ADAPTERS.get(name)
    return adapted(adapter, str(adapter.domain), raw, where, index)


@pytest.mark.parametrize("name", BASES)
def test_a_value_that_no_later_step_could_carry_drops_the_row_or_names_a_column(name: str) -> None:
    base = BASES[name]
    assert isinstance(convert(name, base), Row)
    for place in places(base):
        for odd in ODD:
            try:
                made = convert(name, replaced(base, place, odd))
            except DatasetError as error:
                assert str(error).startswith("f:1") and "\n" not in str(error)
                continue
            if isinstance(made, Drop):
                assert "\n" not in made.detail and made.detail.encode()
                continue
            record = [made.question, made.gold, made.answer, made.core, dict(made.metadata)]
            assert json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
            assert made.task.reference_json().encode()


def test_odd_values_are_told_without_recursion() -> None:
    assert odd_value({"a": [1, "é", None, 10**4000, {"b": (1.5, True)}]}) is None
    assert odd_value(nested(60)) is None
    assert "deep" in str(odd_value(nested(100_000)))
    assert "digits" in str(odd_value({"a": [LARGE]}))
    assert "Unicode" in str(odd_value({"\ud800": 1}))
    assert one_line("a\n b \ud800") == "a b \\ud800"


def eurus(truth: dict[str, Any]) -> dict[str, Any]:
    return {**BASES["eurus_code"], "reward_model": {"ground_truth": json.dumps(truth)}}


@pytest.mark.parametrize(
    ("truth", "reason"),
    [
        ({"fn_name": 3, "inputs": [[1]], "outputs": [[2]]}, "fn_name is not a name"),
        ({"fn_name": "f" * 500, "inputs": [[1]], "outputs": [[2]]}, "fn_name is not a name"),
        ({"inputs": "[" * 5000, "outputs": "[" * 5000}, "the tests do not decode"),
        ({"inputs": "[" + "1," * 300_000 + "'a']", "outputs": "[1]"}, "the tests do not decode"),
        ({"inputs": "[a" + "\u0315\u0300" * 50_000 + "]", "outputs": "[]"}, "the tests do not decode"),
        ({"inputs": "__import__('os').abort()", "outputs": "[1]"}, "the tests do not decode"),
        ({"inputs": ["\ud800"], "outputs": ["1"]}, "the text is not valid Unicode"),
    ],
)  # fmt: skip
def test_hostile_tests_of_eurus_drop_their_row(truth: dict[str, Any], reason: str) -> None:
    made = convert("eurus_code", eurus(truth), "f:1", 0)
    assert isinstance(made, Drop) and made.reason == reason


def test_python_source_of_a_sensible_size_is_read() -> None:
    truth = json.dumps({"inputs": repr(["a\n", 'b"']), "outputs": "['1', '2']"})
    assert len(decoded_tests(truth)["tests"]) == 2


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("keywords:frequency", {"keyword": "$ " * 500_000, "relation": "at least", "frequency": 2}),
        ("length_constraints:number_words", {"num_words": 10**9, "relation": "at least"}),
        ("keywords:existence", {"keywords": ["a"] * 100_000}),
        ("length_constraints:number_words", {"num_words": float("inf"), "relation": "at least"}),
    ],
)
def test_arguments_that_would_take_for_ever_drop_the_row(name: str, kwargs: dict[str, Any]) -> None:
    raw = {"prompt": "p", "instruction_id_list": [name], "kwargs": [kwargs]}
    made = convert("ifeval", raw, "f:1", 0)
    assert isinstance(made, Drop) and made.reason == "an argument of a constraint is too large"


def test_the_columns_of_an_error_are_not_a_million() -> None:
    raw = {f"c{i}": 1 for i in range(100_000)}
    with pytest.raises(DatasetError, match="and 99960 more") as caught:
        convert("deepscaler", raw, "f:1", 0)
    assert len(str(caught.value)) < 2000


SLOW: dict[str, Callable[[int], object]] = {
    "words of combining marks": lambda n: words("a" + "\u0315\u0300" * (n // 2)),
    "words of descending marks": lambda n: words("a" + "\u0315" * (n // 2) + "\u0300" * (n // 2)),
    "words of halfwidth marks": lambda n: words("a" + "\uff9e\u0334" * (n // 2)),
    "blanks before a wrapper": lambda n: convert("eurus_code", {**BASES["eurus_code"], "prompt": "a" + " \n" * (n // 2) + "b"}, "f:1", 0
    ),
    "dollars around an answer": lambda n: plain_answer("$" * 9999),
    "many first options": lambda n: options_in("(b) " * (n // 4) + "(a) " * (n // 4)),
    "unclosed formulas": lambda n: _short("Find it.", "\\[" * 9000),
    "many part labels": lambda n: _short("(a) " * 4500 + "(b) ", "$x=1$"),
    "an excerpt of a huge row": lambda n: _matched("0 " * 250 + "1 2 3 4 5 6 7 8 9 10 11 12 13", n),
}  # fmt: skip


def _short(problem: str, solution: str) -> None:
    with pytest.raises(Unusable):
        short_answer(problem, solution)


def _matched(item: str, size: int) -> None:
    row = item + " 0" * (size // 2) + " " + item
    assert BenchmarkIndex.build([("A", "1", item)]).matches(row)


@pytest.mark.parametrize("name", SLOW)
def test_a_text_made_to_be_slow_takes_linear_time(name: str) -> None:
    start = time.process_time()
    SLOW[name](100_000)
    assert time.process_time() - start < HANG


def test_the_first_thirty_combining_marks_still_count() -> None:
    assert words("cafe\u0301 a" + "\u0301" * 5) == words("caf\u00e9 \u00e1")


PROTO, STOP = b"\x80\x04", b"."


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (PROTO + b"\x94" * 3_000_000 + STOP, "more than 32 opcodes"),
        (PROTO + b"\x8c\x00" * 3_000_000 + STOP, "more than 32 opcodes"),
        (pickle.dumps("[]", protocol=0), "UNICODE is not allowed"),
        (PROTO + b"X" + struct.pack("<I", 2**31) + b"abc" + STOP, "not a valid pickle"),
        (PROTO + b"\x8d" + struct.pack("<Q", 2**63) + b"abc" + STOP, "not a valid pickle"),
        (PROTO + b"\x8b" + struct.pack("<I", 2**31 - 1), "not a valid pickle|not allowed"),
        (PROTO + b"L" + b"9" * 10_000 + b"L\n" + STOP, "not a valid pickle|not allowed"),
        (PROTO + b"cos\nsystem\n" + STOP, "GLOBAL is not allowed"),
        (PROTO + b"Pid\n" + STOP, "PERSID is not allowed"),
        (PROTO + b"\x82\x01" + STOP, "EXT1 is not allowed"),
        (PROTO + b"\x96" + struct.pack("<Q", 2**62) + STOP, "not a valid pickle|not allowed"),
        (PROTO + b"X\x02\x00\x00\x00\xff\xff" + STOP, "not a valid pickle"),
        (b"\xff\xfe", "not a valid pickle"),
    ],
)
def test_hostile_pickles_are_refused_at_once(data: bytes, message: str) -> None:
    start = time.process_time()
    with pytest.raises(PackedError, match=message) as caught:
        pickled_text(data)
    assert time.process_time() - start < HANG and "\n" not in str(caught.value)


def test_a_huge_memo_index_is_only_a_number() -> None:
    text = b"X\x02\x00\x00\x00[]"
    assert pickled_text(PROTO + text + b"r\xff\xff\xff\xff" + STOP) == "[]"


CHECK = "def check(candidate):\n    assert candidate(1) == "
ROWS_OF = "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n"


@pytest.mark.parametrize(
    "source",
    [
        "def check(",
        "x = 1",
        "def check(a, b):\n    pass",
        CHECK + "1 + " * 50_000 + "1\n",
        CHECK + " + ".join(["1"] * 400) + "\n",
        CHECK + "-" * 100_000 + "1\n",
        CHECK + "[" * 5000 + "]" * 5000 + "\n",
        CHECK + "a" + ".b" * 100_000 + "\n",
        CHECK + "0x" + "f" * 20_000 + "\n",
        CHECK + "9" * 20_000 + "\n",
        CHECK + '"\ud800"\n',
        CHECK + '"\x00"\n',
        CHECK + "[" + "1," * 1_100_000 + "]\n",
        CHECK + "a" + "\u0315\u0300" * 100_000 + "\n",
        "def check(candidate):\n    inputs = [[1]]\n    results = [0x"
        + "f" * 20_000
        + "]\n"
        + ROWS_OF,
        "def check(candidate):\n    if 1: pass\n" + "    elif 1: pass\n" * 900,
    ],
    ids=lambda source: f"{source[:90]!r}"[50:90],
)
def test_hostile_test_source_is_unreadable_and_nothing_else(source: str) -> None:
    with pytest.raises(UnreadableTests):
        as_tests(source, "f")


def lines_of(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path.parent


def test_hostile_rows_of_a_benchmark_are_left_out_with_their_reasons(tmp_path: Path) -> None:
    good = {
        "question_content": "Q", "platform": "atcoder", "question_id": "1", "starter_code": "",
        "contest_date": "2024-09-01", "public_test_cases": '[{"input": "1", "output": "1"}]',
        "private_test_cases": "[]", "metadata": "{}",
    }  # fmt: skip
    odd = [
        {**good, "question_id": "a", "question_content": "\ud800"},
        {**good, "question_id": "b", "extra": nested(80)},
        {**good, "question_id": "c", "private_test_cases": "[" * 50_000},
        {**good, "question_id": "d", "public_test_cases": '[{"input": "\\ud800", "output": "1"}]'},
    ]
    many = [{**good, "question_id": str(i), "question_content": f"Q{i}"} for i in range(300)]
    loaded = read_benchmark(
        "livecodebench", mirror=lines_of(tmp_path / "livecodebench.jsonl", odd + many)
    )
    assert len(loaded.samples) == 300 and len(loaded.unusable) == 4
    with pytest.raises(DatasetError, match="starter_code must be text"):
        odd = [{**good, "starter_code": ["x"]}]
        read_benchmark("livecodebench", mirror=lines_of(tmp_path / "livecodebench.jsonl", odd))


def test_an_endless_answer_or_id_of_a_benchmark_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "ifeval.jsonl"
    path.write_text(
        '{"key": ' + "9" * 5000 + ', "prompt": "p", "instruction_id_list": [], "kwargs": []}\n'
    )
    with pytest.raises(DatasetError, match="4,200 digits"):
        read_benchmark("ifeval", mirror=tmp_path)
    with pytest.raises(DatasetError, match="4,200 digits"):
        list(benchmark_questions("ifeval", mirror=tmp_path))


def test_a_code_row_of_an_unknown_source_is_named_not_lost(tmp_path: Path) -> None:
    row = {"data_source": "leetcode", "ability": "code", "prompt": "p", "reward_model": TESTS}
    with pytest.raises(DatasetError, match=r"jsonl:1: data_source of a code row is 'leetcode'"):
        read_benchmark("prime_apps", mirror=lines_of(tmp_path / "prime_apps.jsonl", [row]))


@pytest.mark.parametrize("file", ["data/test-00000-of-00001.parquet", "test.jsonl"])
def test_humaneval_plus_is_found_under_either_of_its_file_names(tmp_path: Path, file: str) -> None:
    from prorl_datasets.benchmarks import load_spec
    from prorl_datasets.benchmarks.loading import benchmark_files

    path = tmp_path / "evalplus" / "humanevalplus" / file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    spec = load_spec("humaneval_plus")
    assert spec.hub is not None
    assert benchmark_files(spec, spec.hub.files, tmp_path).paths == [path]


def test_parquet_columns_of_other_types_are_drops_or_one_line(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    answers = [
        pa.array(["1"]).dictionary_encode(), pa.array([None], pa.null()), pa.array([["1"]]),
        pa.array([b"1"]), pa.array([1.0]), pa.array([None], pa.string()), pa.array([{"a": 1}]),
        pa.array([[(1, 2)]], pa.map_(pa.int64(), pa.int64())), pa.array([1], pa.decimal128(5, 2)),
    ]  # fmt: skip
    kept = []
    for answer in answers:
        parquet.write_table(pa.table({"problem": ["p"], "answer": answer}), tmp_path / "a.parquet")
        [(where, raw)] = iter_rows(tmp_path / "a.parquet")
        made = convert("deepscaler", raw, where)
        kept.append(made.answer if isinstance(made, Row) else None)
    assert kept == ["1", None, "1", None, "1", None, None, None, None]
    far = pa.array([2**55], pa.timestamp("ms"))
    parquet.write_table(pa.table({"problem": ["p"], "answer": far}), tmp_path / "a.parquet")
    with pytest.raises(DatasetError, match="not a readable Parquet file"):
        list(iter_rows(tmp_path / "a.parquet"))


def test_repeated_keys_and_nan_in_json_are_read_as_python_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"problem": "p", "answer": "1", "answer": NaN}\n')
    [(where, raw)] = iter_rows(path)
    made = convert("deepscaler", raw, where, 0)
    assert isinstance(made, Drop) and made.reason == "no answer"


def test_a_csv_of_endless_quotes_or_a_million_columns_is_one_line(tmp_path: Path) -> None:
    for text in (
        'a,b\n"' + '""' * 500_000,
        "a" + ",b" * 200_000 + "\n1\n",
        "a,b\n" + "1," * 200_000 + "\n",
    ):
        path = tmp_path / "a.csv"
        path.write_text(text)
        with pytest.raises(DatasetError) as caught:
            list(iter_rows(path))
        assert len(str(caught.value)) < 1000 and "\n" not in str(caught.value)
