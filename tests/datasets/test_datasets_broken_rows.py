"""Broken values by column: each gives one line with its place and remedy, or the treatment stated here."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets import DatasetError
from prorl_datasets.candidate import Candidate, Drop, encode
from prorl_datasets.recipe.recipe import parse_recipe
from prorl_datasets.rows.maker import RowMaker
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.readers.decode import as_json
from prorl_datasets.sources.row_files import Files
from prorl_datasets.sources.sources import raw_rows

RECIPE = """
name: x
decontamination: {{benchmarks: []}}
entries:
  - {{name: a, domain: {domain}, count: {{train: all}}, source: {{kind: file, path: {path}, on_bad_row: {policy}}}}}
"""


def candidates(path: Path, policy: str = "drop", domain: str = "math") -> list[Candidate | Drop]:
    """Return the candidates of a file before the gold check, after passing between the build's processes."""
    recipe = parse_recipe(
        RECIPE.format(domain=domain, path=path.name, policy=policy), "r", path.parent
    )
    (entry,) = recipe.entries
    files = Files({"a": [path]}, {}, {"a": ["0"]})
    with long_integers():
        rows = json.loads(json.dumps(list(raw_rows(entry, files)), default=as_json))
    return RowMaker(recipe, 0).convert("a", [(i, *row) for i, row in enumerate(rows)])


def fate(candidate: Candidate | Drop) -> str:
    """Return 'kept: ANSWER', or the reason of a drop."""
    if isinstance(candidate, Drop):
        assert "\n" not in candidate.detail
        return candidate.reason
    assert json.dumps(encode(candidate), ensure_ascii=False, allow_nan=False).encode()
    return f"kept: {json.loads(candidate.reference).get('answer')}"


def row(**changes: Any) -> str:
    return json.dumps({"prompt": "How many?", "answer": "3", **changes})


DEEP = '{"prompt": "x?", "answer": ' + "[" * 300 + "]" * 300 + "}"
EMPTY, TAKES = ("bad row: column 'answer' is empty", "bad row: the verifier rejects the reference")
NO_TEXT, BLANK = "bad row: the prompt is not text", "bad row: the prompt is empty"
LINES: list[tuple[str, str]] = [
    # answers
    (row(answer=None), EMPTY), (row(answer=""), EMPTY), ('{"prompt": "x?", "answer": NaN}', EMPTY),
    (row(answer="NaN"), "bad row: gold: null word"), (row(answer="None"), "bad row: gold: null word"),
    (row(answer="null"), "bad row: gold: null word"), (row(answer=" \t "), TAKES),
    (row(answer="See the proof above."), "bad row: gold: points elsewhere"),
    (row(answer=3), "kept: 3"), (row(answer=3.5), "kept: 3.5"), (row(answer=True), "kept: True"), (row(answer=["3"]), TAKES),
    (row(answer=[]), TAKES), (row(answer={"value": 3}), TAKES), (row(answer=10**30), f"kept: {10**30}"),
    ('{"prompt": "x?", "answer": Infinity}', TAKES), ('{"prompt": "x?", "answer": 1e999}', TAKES),
    ('{"prompt": "x?", "answer": ' + "9" * 5000 + "}", f"kept: {'9' * 5000}"),
    (row(answer="\ud800"), "not valid Unicode"), (row(answer="\x00"), "kept: \x00"), (row(answer="7" * 100_000), f"kept: {'7' * 100_000}"),
    (DEEP, "bad row: column 'answer' holds values nested more than 64 deep"),
    # prompts
    (row(prompt=None), "bad row: column 'prompt' is empty"), (row(prompt=""), "bad row: column 'prompt' is empty"),
    (row(prompt=" \n"), BLANK), (row(prompt=7), NO_TEXT), (row(prompt=["a"]), NO_TEXT), (row(prompt={"a": 1}), NO_TEXT),
    (row(prompt=[]), NO_TEXT), (row(prompt=[{"role": "user"}]), NO_TEXT),
    (row(prompt=[{"role": "user", "content": None}]), NO_TEXT),
    (row(prompt=[{"role": "user", "content": "a?"}, {"role": "user", "content": "b?"}]), NO_TEXT),
    (row(prompt=[{"role": "system", "content": "be brief"}, {"role": "user", "content": "a?"}]), "kept: 3"),
    (row(prompt="\ud83d"), "not valid Unicode"), (row(prompt="{question} {0} %s"), "kept: 3"),
    # rows
    ("{}", "bad row: no column 'prompt'"), ('{"answer": "3"}', "bad row: no column 'prompt'"),
    ('{"prompt": "x?"}', "bad row: no column 'answer'"), ('{"Prompt": "x?", "answer": "3"}', "bad row: no column 'prompt'"),
    ("[]", "bad row: the row cannot be read"), ("null", "bad row: the row cannot be read"),
    ('"text"', "bad row: the row cannot be read"), ('{"prompt": "x?", "ans', "bad row: the row cannot be read"),
    ("{'prompt': 'x?', 'answer': '3'}", "bad row: the row cannot be read"), ("prompt,answer", "bad row: the row cannot be read"),
    ("[" * 100_000, "bad row: the row cannot be read"), (row(gold_response="", extra="x"), "kept: 3"),
    (row(gold_response=None), "kept: 3"), (row(gold_response=7), "kept: 3"), (row(answer="3", extra=None), "kept: 3"),
    (row(note="action: string, datetime: timestamp[s]"), "kept: 3"), (row(answer="action: string, datetime: timestamp[s]"), "kept: action: string, datetime: timestamp[s]"),
    ('{"prompt": "x?", "answer": "1", "answer": "2"}', "kept: 2"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), LINES, ids=range(len(LINES)))
def test_a_line_is_kept_or_dropped_for_a_reason_and_its_neighbours_stay(
    tmp_path: Path, line: str, expected: str
) -> None:
    good = row(prompt="Before?"), row(prompt="After?")
    (tmp_path / "a.jsonl").write_text(
        f"{good[0]}\n{line}\n{good[1]}\n", encoding="utf-8", errors="surrogatepass"
    )
    found = [fate(candidate) for candidate in candidates(tmp_path / "a.jsonl")]
    assert found == ["kept: 3", expected, "kept: 3"]


@pytest.mark.parametrize(
    ("line", "expected"), [pair for pair in LINES if pair[1].startswith("bad row: ")][::3]
)
def test_where_the_build_stops_the_line_names_place_and_cure(
    tmp_path: Path, line: str, expected: str
) -> None:
    (tmp_path / "a.jsonl").write_text(f"{row()}\n{line}\n{row(prompt='Other?')}\n")
    with pytest.raises(DatasetError, match=r"a\.jsonl:2: ") as caught:
        candidates(tmp_path / "a.jsonl", "stop")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 700
    if "cannot be read" not in expected:
        assert "on_bad_row: drop or quarantine" in str(caught.value)


def test_a_column_that_is_null_at_first_may_hold_anything_later(tmp_path: Path) -> None:
    first = [row(prompt=f"{n}?", note=None, tags=[None, None]) for n in range(3000)]
    values: list[Any] = ["text", {"a": [None]}, 7, 2.5, ["b"], None]
    later = [row(prompt=f"After {n}?", note=value, tags=value) for n, value in enumerate(values)]
    (tmp_path / "a.jsonl").write_text("\n".join((*first, *later)))
    found = candidates(tmp_path / "a.jsonl", "stop")
    assert {fate(candidate) for candidate in found} == {"kept: 3"} and len(found) == 3006


def test_bytes_that_are_not_utf8_cost_their_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        row(prompt="One?").encode() + b"\n\xff\xfe\n" + row(prompt="Two?").encode() + b"\n"
    )
    assert [fate(c) for c in candidates(path)] == [
        "kept: 3",
        "bad row: the row cannot be read",
        "kept: 3",
    ]


def test_names_used_twice_keep_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        row(id=name, prompt=f"{n}?") for n, name in enumerate(["a", "b", "a", 1, "1", None, None])
    ]
    path.write_text("\n".join(lines))
    found = candidates(path)
    assert [fate(c).partition(":")[0] for c in found] == [
        "kept",
        "kept",
        "bad row",
        "kept",
        "bad row",
        "kept",
        "kept",
    ]
    assert "'id' is 'a', as in line 1; ids of rows must differ" in str(found[2])


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "a.jsonl.gz",
            gzip.compress((row() + "\n").encode() * 50, mtime=0)[:-9],
            "the gzip file is cut off",
        ),
        ("a.jsonl.gz", b"no gzip", "the gzip file is damaged"),
        ("a.json", b'[{"prompt": "x?", "answer": "1"}, {"prompt"', "the file ends inside this row"),
        ("a.json", b'{"prompt": ["x?"], "answer": ["1"]}', "found a single object"),
        ("a.csv", b'prompt,answer\n"x?,1\ny?,2\n', "not valid CSV"),
        ("a.csv", b"prompt,prompt\nx,1\n", "column names must differ; used twice: prompt"),
        ("a.csv", b"\xff\xfe\x00prompt", "not UTF-8"),
        ("a.parquet", b"PAR1 no", "not a readable Parquet file"),
        ("a.parquet", b"", "not a readable Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_on_is_one_line_even_where_bad_rows_are_dropped(
    tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DatasetError, match=said) as caught:
        candidates(tmp_path / name)
    assert "\n" not in str(caught.value) and name in str(caught.value)


CSV = 'prompt,answer\nOne?,1\nTwo?,2,3\nThree?\n"Fo\nur?",4\n\nNone?,NaN\nFive?,\n'


def test_rows_of_a_csv_of_another_width_are_dropped_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    found = candidates(tmp_path / "a.csv")
    assert [fate(c) for c in found] == [
        "kept: 1", "bad row: the row cannot be read", "bad row: the row cannot be read", "kept: 4",
        "bad row: gold: null word", EMPTY,
    ]  # fmt: skip
    assert "a.csv:3: 3 values, but the header names 2 columns" in str(found[1])


def test_elements_of_an_array_that_are_no_objects_are_dropped_alone(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f"[{row(prompt='One?')}, 7, null, [1], {row(prompt='Two?')}]")
    found = [fate(c) for c in candidates(tmp_path / "a.json")]
    assert sorted(found) == sorted(["kept: 3", "kept: 3", *["bad row: the row cannot be read"] * 3])


def _parquet(path: Path, make: Callable[[Any], Any]) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"prompt": ["One?", "Two?"], "answer": make(pa)}), path)
    return path


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda pa: pa.array(["3", None]).dictionary_encode(), ["kept: 3", EMPTY]),
        (lambda pa: pa.array([decimal.Decimal("3.50"), None]), ["kept: 3.50", EMPTY]),
        (lambda pa: pa.array([datetime.date(2024, 1, 2), None]), ["kept: 2024-01-02", EMPTY]),
        (lambda pa: pa.array([datetime.datetime(2024, 1, 2, 3, 4), None]), ["kept: 2024-01-02T03:04:00", EMPTY]),
        (lambda pa: pa.array([datetime.timedelta(seconds=61), None]), ["kept: 0:01:01", EMPTY]),
        (lambda pa: pa.array([b"3", b"\xff\xfe"]), ["kept: 3", TAKES]),
        (lambda pa: pa.array([3.0, float("nan")]), ["kept: 3.0", EMPTY]),
        (lambda pa: pa.array([True, False]), ["kept: True", "kept: False"]),
        (lambda pa: pa.array([["3"], None]), [TAKES, EMPTY]),
        (lambda pa: pa.array([{"a": 1}, None]), [TAKES, EMPTY]),
        (lambda pa: pa.nulls(2), [EMPTY, EMPTY]),
        (lambda pa: pa.array([[("k", 1)], None], type=pa.map_(pa.string(), pa.int64())), [TAKES, EMPTY]),
        (lambda pa: pa.array(["3", "4"], type=pa.large_string()), ["kept: 3", "kept: 4"]),
        (lambda pa: pa.array([2**63, 1], type=pa.uint64()), [f"kept: {2**63}", "kept: 1"]),
    ],
)  # fmt: skip
def test_every_type_of_a_parquet_column_is_text_or_a_bad_row(
    tmp_path: Path, make: Callable[[Any], Any], expected: list[str]
) -> None:
    assert [fate(c) for c in candidates(_parquet(tmp_path / "a.parquet", make))] == expected


CODE = {"prompt": "Double it.", "tests": [{"call": "f", "args": [1], "expected": 2}]}


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        (None, "bad row: column 'tests' is empty"),
        ("", "bad row: column 'tests' is empty"),
        ("[{", "bad row: column 'tests' is not valid JSON"),
        ("[" * 100_000, "bad row: column 'tests' is not valid JSON"),
        ([], TAKES), ({}, TAKES), ("{}", TAKES), ([1], TAKES), ([{"call": "f"}], TAKES), ([{"stdin": "1"}], TAKES),
        (7, TAKES),
    ],
)  # fmt: skip
def test_tests_of_code_that_cannot_be_run_are_bad_rows(
    tmp_path: Path, tests: Any, reason: str
) -> None:
    lines = [json.dumps(CODE), json.dumps({**CODE, "tests": tests})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    good, bad = candidates(tmp_path / "a.jsonl", domain="code")
    assert fate(good).startswith("kept") and fate(bad) == reason
