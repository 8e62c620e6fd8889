from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets import DatasetError
from prorl_datasets.sources.readers import iter_rows

ROWS: list[dict[str, Any]] = [
    {"problem": "α + 1", "kwargs": [{"n": 1, "word": None}], "tests": ["1\n", 'say "]}"']},
    {"problem": "two", "kwargs": [], "tests": []},
    {"problem": "three", "kwargs": [{"n": None, "word": "x"}], "tests": ["\\"]},
]


def read(path: Path, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return list(iter_rows(path, **more))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def packed(path: Path, text: str) -> bytes:
    import pyarrow

    if path.suffix == ".zst":
        data: bytes = pyarrow.compress(text.encode(), codec="zstd", asbytes=True)
        return data
    return gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode()


def make(path: Path) -> Path:
    import pyarrow
    from pyarrow import parquet

    if path.name.endswith(".arrow"):
        table = pyarrow.Table.from_pylist(ROWS)
        is_file = path.name.startswith("file")
        kind = pyarrow.ipc.new_file if is_file else pyarrow.ipc.new_stream
        with kind(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        return path
    if path.name.endswith(".parquet"):
        parquet.write_table(pyarrow.Table.from_pylist(ROWS), path, row_group_size=2)
        return path
    text = lines(ROWS) if ".jsonl" in path.name else json.dumps(ROWS, ensure_ascii=False, indent=1)
    path.write_bytes(packed(path, text))
    return path


@pytest.mark.parametrize(
    "name",
    [
        *(f"a.{end}{pack}" for end in ("jsonl", "json") for pack in ("", ".gz", ".zst")),
        "a.parquet",
        "file.arrow",
        "stream.arrow",
    ],
)
def test_every_format_gives_the_same_rows_and_their_places(tmp_path: Path, name: str) -> None:
    path = make(tmp_path / name)
    assert read(path) == [(f"{path}:{i}", row) for i, row in enumerate(ROWS, start=1)]


def test_a_csv_file_gives_text_and_the_line_where_a_record_begins(tmp_path: Path) -> None:
    path = written(
        tmp_path / "g.csv", 'Question,Answer\r\n"one\ntwo, three",4\r\nfive,"6 ""x"""\r\n'
    )
    assert read(path) == [
        (f"{path}:2", {"Question": "one\ntwo, three", "Answer": "4"}),
        (f"{path}:4", {"Question": "five", "Answer": '6 "x"'}),
    ]


def test_blank_lines_a_mark_of_order_and_a_missing_last_line_break_do_not_matter(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{"a": 2}')
    assert read(path) == [(f"{path}:1", {"a": 1}), (f"{path}:3", {"a": 2})]


def test_json_lines_in_a_json_file_are_read_as_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", '{"a": 1}\n{"a": 2}\n')
    assert [row for _, row in read(path)] == [{"a": 1}, {"a": 2}]


def test_an_array_is_read_across_blocks_whatever_the_rows_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prorl_datasets.sources.readers.lines.BLOCK", 7)
    monkeypatch.setattr("prorl_datasets.sources.readers.lines.BLOCK", 7)
    rows = [{"t": 'ü\\"]' * n, "n": [n, -1.5e3, True, None]} for n in range(30)]
    path = written(tmp_path / "a.json", json.dumps(rows))
    assert [row for _, row in read(path)] == rows


def test_integers_longer_than_pythons_limit_are_read(tmp_path: Path) -> None:
    number = "9" * 6000
    before = sys.get_int_max_str_digits()
    for name, text in (("a.jsonl", f'{{"n": {number}}}\n'), ("a.json", f'[{{"n": {number}}}]')):
        [(_, row)] = read(written(tmp_path / name, text))
        assert row["n"] % 10**9 == 999999999
    assert sys.get_int_max_str_digits() == before


GOOD = '{"a": 1}\n'
DAMAGED = [
    ("a.jsonl", GOOD + "{oops}\n", r"a\.jsonl:2: not valid JSON"),
    ("a.jsonl", GOOD + "[1]\n", r"a\.jsonl:2: expected a JSON object, got list"),
    ("a.jsonl", GOOD + "[" * 100_000, r"a\.jsonl:2: not valid JSON"),
    ("a.jsonl", GOOD + '{"a": ' + "9" * 200_000 + "}", r"a\.jsonl:2: not valid JSON"),
    ("a.json", '[{"a": 1}, {"a": }, {"a": 2}]', r"a\.json:2: not valid JSON"),
    ("a.json", '[{"a": 1}, {"a": "x', r"a\.json:2: the file ends inside this row"),
    ("a.json", '[{"a": 1},', r"a\.json:2: the file ends|a\.json:1: the file ends"),
    ("a.json", '[{"a": 1}', r"a\.json:1: the file ends"),
    ("a.json", '[{"a": 1} {"a": 2}]', r"a\.json:1: not valid JSON \(expected ,"),
    ("a.json", '[{"a": 1},]', r"a\.json:1: not valid JSON \(a comma"),
    ("a.json", "[3]", r"a\.json:1: expected a JSON object, got int"),
    ("a.json", '[{"a": 1}] tail', r"more text follows the array"),
    ("a.json", '{"a": [1, 2], "b": [3, 4]}', r"found a single object; write the rows"),
    ("a.json", "", r"a\.json: expected one JSON array of objects, found nothing"),
    ("a.csv", "a,b\n1,2\n3\n", r"a\.csv:3: 1 values, but the header names 2 columns"),
    ("a.csv", "a,b,a\n1,2,3\n", r"a\.csv:1: column names must differ; used twice: a"),
    ("a.csv", 'a,b\n1,"2\n3,4\n', r"a\.csv:2: not valid CSV"),
    ("a.parquet", "PAR1 is all", r"a\.parquet:1: not a readable Parquet file"),
    ("a.txt", "x", r"a\.txt: expected a file that ends in \.jsonl"),
    ("a.tsv", "a\tb\n1\n", r"a\.tsv:2: 1 values, but the header names 2 columns"),
    ("a.jsonl.zst", "x", r"a\.jsonl\.zst: cannot be read .*download it again"),
    ("a.arrow", "x", r"a\.arrow:1: not a readable Arrow file, or cut off .*download it again"),
    ("a.arrow", "ARROW1 is all", r"a\.arrow:1: not a readable Arrow file"),
    *(
        (
            name,
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "is a Git LFS pointer",
        )
        for name in (
            "a.jsonl", "a.json", "a.csv", "a.tsv", "a.jsonl.gz", "a.csv.zst", "a.parquet",
            "a.arrow",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "message"), DAMAGED)
def test_damaged_input_is_one_line_naming_file_and_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        read(written(tmp_path / name, text))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.json", "a.parquet", "a.csv"):
        with pytest.raises(DatasetError, match=f"no such file: .*{name}"):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json"])
def test_text_that_is_not_utf8_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b'[{"a": "caf\xe9"}]' if name == "a.json" else b'{"a": "caf\xe9"}\n')
    with pytest.raises(DatasetError, match=r"not UTF-8 .*convert the file"):
        read(path)


def test_a_truncated_gzip_gives_its_whole_lines_and_then_names_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    rows = [{"n": i, "t": str(i * 7919 % 10_007) * 5} for i in range(5000)]
    whole = gzip.compress(lines(rows).encode())
    path.write_bytes(whole[: len(whole) // 2])
    got = []
    with pytest.raises(
        DatasetError, match=r"a\.jsonl\.gz: the gzip file is cut off; line"
    ) as caught:
        for place, row in iter_rows(path):
            got.append((place, row))
    assert got and [row for _, row in got] == rows[: len(got)]
    assert f"line {len(got)} is the last complete one" in str(caught.value)


def test_a_gzip_file_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    data = bytearray(gzip.compress(lines(ROWS).encode()))
    data[-6] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DatasetError, match="the gzip file is damaged"):
        read(path)


def test_a_parquet_file_cut_off_or_with_equal_columns_is_refused(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    whole = make(tmp_path / "a.parquet").read_bytes()
    cut = tmp_path / "b.parquet"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        DatasetError, match=r"b\.parquet:1: not a readable Parquet file, or cut off"
    ):
        read(cut)
    twice = pyarrow.table([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"])
    parquet.write_table(twice, tmp_path / "c.parquet")
    with pytest.raises(DatasetError, match="used twice: a"):
        read(tmp_path / "c.parquet")


def peak_of(rows: Iterator[tuple[str, dict[str, Any]]]) -> tuple[str, int]:
    """Return (error message, peak bytes held) of reading ``rows``."""
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError) as caught:
            for _ in rows:
                pass
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_of_a_gigabyte_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", GOOD)
    with path.open("rb+") as file:
        file.truncate(10**9)
    message, peak = peak_of(iter_rows(path))
    assert "a.jsonl:2: this row is larger than 64 MiB" in message
    assert peak < 200 * 2**20


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.csv"])
def test_a_huge_row_is_refused_before_it_is_held_whole(tmp_path: Path, name: str) -> None:
    size = 48 * 2**20
    head, row = ("[", '{"a": "') if name == "a.json" else ("", '{"a": "')
    text = ("a\n" + '"x' if name == "a.csv" else head + row).encode() + b"y" * size
    path = tmp_path / name
    path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)
    del text
    message, peak = peak_of(iter_rows(path, max_row_bytes=4 * 2**20))
    assert "this row is larger than 4 MiB" in message
    assert peak < 32 * 2**20


def test_a_parquet_value_over_the_limit_is_refused(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"a": ["x", "y" * 3_000_000]}), path)
    with pytest.raises(DatasetError, match=r"a\.parquet:2: this row is larger than 1 MiB"):
        read(path, max_row_bytes=2**20)


def test_a_parquet_file_of_one_row_group_is_read_page_by_page(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path, rows = tmp_path / "one.parquet", 6000
    texts = pyarrow.array([f"{n:08d}" * 1000 for n in range(rows)])
    table = pyarrow.table({"text": texts})
    parquet.write_table(table, path, compression="none", use_dictionary=False, row_group_size=rows)
    del texts, table
    assert parquet.ParquetFile(path).metadata.num_row_groups == 1
    assert path.stat().st_size > 45_000_000
    before, most = pyarrow.total_allocated_bytes(), 0
    for count, _ in enumerate(iter_rows(path), start=1):
        if count % 500 == 0:
            most = max(most, pyarrow.total_allocated_bytes() - before)
    assert count == rows
    assert most < 24_000_000


def test_tabs_part_the_values_of_a_tsv_file(tmp_path: Path) -> None:
    path = written(tmp_path / "g.tsv", "q\ta\n1, 2\t3\n")
    assert read(path) == [(f"{path}:2", {"q": "1, 2", "a": "3"})]


def test_an_arrow_stream_that_ends_between_two_batches_is_cut_off(tmp_path: Path) -> None:
    path = make(tmp_path / "s.arrow")
    path.write_bytes(path.read_bytes()[:-8])  # pyarrow reads it as if it were complete
    with pytest.raises(DatasetError, match=r"s\.arrow:1: .* cut off"):
        read(path)


def test_a_zstd_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(packed(path, lines(ROWS * 5000))[:-100])
    with pytest.raises(DatasetError, match=r"a\.jsonl\.zst: cannot be read .*download it again"):
        read(path)
