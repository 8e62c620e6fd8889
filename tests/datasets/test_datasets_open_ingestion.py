from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, UserError
from prorl_datasets import (
    BuildOptions,
    DatasetError,
    FunctionSpec,
    Recipe,
    build,
    load,
    verify_dataset,
)
from prorl_datasets.building.builder import build_with
from prorl_datasets.candidate import BadRow
from prorl_datasets.recipe.parts import Counts
from prorl_datasets.sources.columns import columns_needed, is_wanted
from prorl_datasets.spec import RowSettings

Make = Callable[[str], Recipe]
ROWS: list[dict[str, Any]] = [
    {"q": f"What is {i} plus {i} squared?", "sol": str(i + i * i), "level": str(i % 4), "topic": f"t{i}"}
    for i in range(40)
]  # fmt: skip


def recipe_text(source: str, count: str = "{train: all}", more: str = "") -> str:
    return (
        "name: x\ndecontamination: {benchmarks: []}\nnear_duplicate: 0\nentries:\n"
        f"  - {{name: mine, domain: math, {more}source: {{{source}}}, count: {count}}}\n"
    )


def write_rows(path: Path, rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


MAPPED = "columns: {prompt: q, answer: sol}"


def test_a_hub_data_set_of_ones_own_needs_no_adapter(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    write_rows(tmp_path / "mirror" / "lab" / "sums" / "data" / "a.jsonl", ROWS)
    text = recipe_text(
        f"kind: hub, repo: lab/sums, files: ['data/*.jsonl'], where: {{level: ['2', '3']}}, {MAPPED}"
    )
    options = BuildOptions(mirror=tmp_path / "mirror")
    report = build_with(
        accepting, make_recipe(text), tmp_path / "d", progress=NullProgress(), options=options
    )
    samples = load(tmp_path / "d")
    assert len(samples) == 20
    assert {s.source for s in samples} == {"lab/sums"}
    first = samples[0]
    assert first.task.reference == {"answer": "6"}
    assert first.metadata["extra"] == {"level": "2", "topic": "t2"}
    assert report.manifest["stages"]["math"]["where"] == 20
    source = report.manifest["resolved_recipe"]["entries"][0]["source"]
    assert source["where"] == {"level": ["2", "3"]}


def test_named_metadata_and_kept_columns(make_recipe: Make, tmp_path: Path, accepting: Any) -> None:
    line = json.dumps({**ROWS[3], "lic": "CC0", "score": float("nan"), "long": 0})
    write_rows(tmp_path / "a.jsonl", [line.replace('"long": 0', f'"long": {"9" * 5000}')])
    columns = "{prompt: q, answer: sol, metadata.level: level, metadata.licence: lic}"
    text = recipe_text(f"kind: file, path: a.jsonl, columns: {columns}, keep: [score, long]")
    build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    (sample,) = load(tmp_path / "d")
    assert (sample.metadata["level"], sample.licence) == ("3", "CC0")
    left_out = "(left out: an integer of more than 4,200 digits)"
    assert sample.metadata["extra"] == {"score": None, "long": left_out}


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        ("{train: 80%, validation: 10%, test: 10%}", (32, 4, 4)),
        ("{train: 33.3%, validation: 33.3%}", (13, 14, 0)),
        ("{train: all, validation: 5%}", (38, 2, 0)),
        ("{train: 10, test: 50%}", (10, 0, 20)),
    ],
)
def test_percentages_are_of_the_distinct_usable_rows(
    make_recipe: Make, tmp_path: Path, accepting: Any, count: str, expected: tuple[int, ...]
) -> None:
    write_rows(tmp_path / "a.jsonl", [*ROWS, *ROWS[:7], {"q": "no gold", "sol": "", "level": "0"}])
    text = recipe_text(f"kind: file, path: a.jsonl, on_bad_row: drop, {MAPPED}", count)
    report = build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    kept = report.manifest["entries"][0]["splits"]
    assert tuple(kept[s]["kept"] for s in ("train", "validation", "test")) == expected
    assert report.short == {}


def test_percentages_share_out_every_row_and_never_more_than_all() -> None:
    thirds = Counts(train="33.4%", validation="33.3%", test="33.3%")
    for rows in range(50):
        assert sum(thirds.among(s, rows) or 0 for s in ("train", "validation", "test")) == rows
    with pytest.raises(ValueError, match="percentages add up to 110%, more than 100%"):
        Counts(train="80%", test="30%")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("where: 'level > 3'", "write where: {column: value}"),
        ("where: hrad", "unknown function 'hrad'"),
        ("where: {level: []}", "'level' has an empty list"),
        ("where: {level: {least: 3}}", "source.where"),
        ("map: {answer: 'boxed(q)'}", "'map' was removed: rename columns with 'columns'"),
        (
            "columns: {anwser: q}",
            "columns: 'anwser' is not a field of math (did you mean 'answer'?)",
        ),
        ("adapter: gsm8k, columns: {answer: q}", "give 'columns' or 'adapter', not both"),
        ("on_bad_row: skip", "must be 'stop', 'drop' or 'quarantine'"),
        ("wehre: {level: 1}", "unknown key 'wehre' in entry 'mine'.source (did you mean 'where'?)"),
    ],
)
def test_mistakes_of_the_recipe_are_told_before_a_row_is_read(
    make_recipe: Make, tmp_path: Path, accepting: Any, source: str, said: str
) -> None:
    write_rows(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(DatasetError) as caught:
        text = recipe_text(f"kind: file, path: a.jsonl, {source}")
        build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    assert said in str(caught.value)


def test_percentages_of_a_generator_are_refused(make_recipe: Make) -> None:
    with pytest.raises(DatasetError, match="a generator has no end"):
        make_recipe(recipe_text("kind: procedural, family: add", "{train: 50%}"))


LEVELS = "where: {level: ['0', '1', '2', '3']}"
BAD = [
    '{"q": "broken',
    {"q": "no gold?", "level": "3"},
    {"q": "null?", "sol": None, "level": "3"},
    {"q": "nan?", "sol": "NaN", "level": "3"},
    {"q": " ", "sol": "1", "level": "3"},
    {"q": "no level?", "sol": "1"},
    {"q": "another kind?", "sol": "1", "level": 3},
    [1, 2],
]


def test_a_build_that_stops_names_the_first_bad_row_and_how_many_more(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    write_rows(tmp_path / "a.jsonl", [*ROWS, *BAD[1:7]])
    text = recipe_text(f"kind: file, path: a.jsonl, {LEVELS}, {MAPPED}")
    with pytest.raises(DatasetError) as caught:
        build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    line = str(caught.value)
    assert "a.jsonl:41: no column 'sol'" in line
    assert "5 more of these 46 rows are bad (lines 42, 43, 44, 45, 46)" in line
    assert "on_bad_row: drop or quarantine" in line


@pytest.mark.parametrize("policy", ["drop", "quarantine"])
def test_bad_rows_are_left_out_counted_and_kept_on_the_side(
    make_recipe: Make, tmp_path: Path, accepting: Any, policy: str
) -> None:
    write_rows(tmp_path / "a.jsonl", [*ROWS[:20], *BAD, *ROWS[20:]])
    text = recipe_text(f"kind: file, path: a.jsonl, {LEVELS}, on_bad_row: {policy}, {MAPPED}")
    out = tmp_path / "d"
    report = build_with(accepting, make_recipe(text), out, progress=NullProgress())
    assert len(load(out)) == 40
    assert {r: n for r, n in report.manifest["drops"].items() if r.startswith("bad row: ")} == {
        "bad row: the row cannot be read": 2,
        "bad row: no column 'sol'": 1,
        "bad row: column 'sol' is empty": 1,
        "bad row: gold: null word": 1,
        "bad row: the prompt is empty": 1,
        "bad row: where has no value": 2,
    }
    file = out / "quarantine.jsonl"
    assert file.exists() is (policy == "quarantine")
    if policy == "quarantine":
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert report.manifest["files"]["quarantine.jsonl"]["rows"] == len(rows) == 8
        assert [row["place"] for row in rows] == [f"a.jsonl:{n}" for n in range(21, 29)]
        assert rows[3]["columns"] == BAD[3] and "answer (null word): 'NaN'" in rows[3]["detail"]
        assert rows[0]["columns"] == {"text": BAD[0]}
        assert "'level' holds a number, but the recipe expects a text" in rows[6]["detail"]
        assert str(tmp_path) not in file.read_text()
        again = build_with(accepting, make_recipe(text), tmp_path / "e", progress=NullProgress())
        assert (again.path / "quarantine.jsonl").read_bytes() == file.read_bytes()


def test_a_build_that_keeps_nothing_says_why(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    write_rows(tmp_path / "a.jsonl", [{**row, "sol": ""} for row in ROWS])
    text = recipe_text(f"kind: file, path: a.jsonl, on_bad_row: drop, {MAPPED}")
    with pytest.raises(
        UserError,
        match=r"all 40 were dropped: bad row: column 'sol' is empty \(40, as mine-0: a.jsonl:1: col",
    ):
        build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())


PLUGIN = """
from prorl_datasets import FunctionSpec
from prorl_verifiers import VerifierSpec

def has_a_number(row):
    if "boom" in row["sol"]:
        raise RuntimeError("no luck\\nat all")
    if "odd" in row["sol"]:
        return 1
    return any(word.isdigit() for word in row["sol"].split())

NUMBER = FunctionSpec(name="has_a_number", call=has_a_number)
EXACT = VerifierSpec(name="word_for_word", score=lambda response, reference: response == reference["answer"])
"""


def test_a_condition_and_a_verifier_of_ones_own_serve_a_plain_file(
    make_recipe: Make, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    odd = [{"q": f"{word}?", "sol": word} for word in ("boom", "odd", "none")]
    write_rows(tmp_path / "a.jsonl", [*ROWS[:4], *odd])
    source = f"kind: file, path: a.jsonl, where: has_a_number, {MAPPED}, on_bad_row: quarantine"
    text = "plugins: [mine.py]\n" + recipe_text(source, more="verifier: word_for_word, ")
    report = build(
        make_recipe(text), tmp_path / "d", progress=NullProgress(), options=BuildOptions(workers=1)
    )
    samples = load(tmp_path / "d")
    assert [s.task.reference["answer"] for s in samples] == ["0", "2", "6", "12"]
    assert {s.task.verifier for s in samples} == {"word_for_word"}
    assert report.manifest["stages"]["math"]["where"] == 1
    parts = {(part["group"], part["name"]) for part in report.manifest["parts"]}
    assert parts == {("prorl.sources", "has_a_number"), ("prorl.verifiers", "word_for_word")}
    raised, odd_answer = (tmp_path / "d" / "quarantine.jsonl").read_text().splitlines()
    assert "has_a_number raised RuntimeError: no luck at all (mine.py, line " in raised
    assert "has_a_number returns int, not True or False" in odd_answer
    assert verify_dataset(tmp_path / "d", progress=NullProgress(), workers=1).ok


@pytest.mark.parametrize("name", ["Has", "has number", "", 3])
def test_a_function_has_a_plain_name(name: Any) -> None:
    with pytest.raises(UserError, match="a name consists of lower-case letters, digits and _"):
        FunctionSpec(name, bool)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({"level": 3}, True),
        ({"level": [1, 2]}, False),
        ({"level": 3.0, "kind": "open"}, True),
        ({"level": 3, "kind": ["closed"]}, False),
        ({"about.author": "me"}, True),
        ({"note": None}, True),
        ({"note": ["x", None]}, True),
        ({"note": "x"}, False),
        ({"solved": True}, True),
        ({}, True),
    ],
)
def test_where_compares_columns_with_values(where: dict[str, Any], wanted: bool) -> None:
    row = {"level": 3, "kind": "open", "about": {"author": "me"}, "note": None, "solved": True}
    assert is_wanted(RowSettings(kind="file", where=where), row, "f:1") is wanted


@pytest.mark.parametrize("where", [{"levl": 3}, {"level": "3"}, {"level": True}, {"about": "me"}])
def test_where_refuses_a_row_whose_column_it_cannot_compare(where: dict[str, Any]) -> None:
    row = {"level": 3, "about": {"author": "me"}}
    with pytest.raises(BadRow, match=r"f:1: where: (no )?column"):
        is_wanted(RowSettings(kind="file", where=where), row, "f:1")


def test_a_shipped_response_makes_a_gold_verified_and_a_boxed_answer_does_not(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    rows = [
        {"prompt": "1 + 1?", "answer": "2", "gold_response": "It is \\boxed{2}."},
        {"prompt": "2 + 2?", "answer": "4"},
    ]
    write_rows(tmp_path / "a.jsonl", rows)
    build_with(
        accepting,
        make_recipe(recipe_text("kind: file, path: a.jsonl")),
        tmp_path / "d",
        progress=NullProgress(),
    )
    first, second = load(tmp_path / "d")
    assert (first.gold_check, first.metadata["verified_by"]) == (
        "verified",
        "a response that the source ships",
    )
    assert second.gold_check == "self-consistent" and "verified_by" not in second.metadata


def test_the_columns_that_a_source_must_have_are_known_before_it_is_read() -> None:
    settings = RowSettings(
        kind="hub",
        columns={"prompt": "q", "answer": "sol", "id": "key", "metadata.level": "level"},
        where={"topic": ["a"], "about.author": "me"},
        keep=["topic"],
    )
    assert columns_needed("math", settings) == ["q", "sol", "key", "level", "topic", "about.author"]
    assert columns_needed("code", RowSettings(kind="file")) == ["prompt", "tests"]
