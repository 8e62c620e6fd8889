"""Rows of any file or hub data set: columns, where, map, percentages, bad rows, further columns, own parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, UserError
from prorl_datasets import BuildOptions, DatasetError, Recipe, build, load, verify_dataset
from prorl_datasets.building.builder import build_with
from prorl_datasets.recipe.parts import Counts
from prorl_datasets.sources.columns import columns_needed
from prorl_datasets.spec import RowSettings

Make = Callable[[str], Recipe]
ROWS: list[dict[str, Any]] = [
    {"q": f"What is {i} plus {i} squared?", "sol": f"so\n#### {i + i * i}", "level": str(i % 4), "topic": f"t{i}"}
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


MAPPED = "columns: {prompt: q}, map: {answer: 'after(sol, \"####\")'}"


def test_a_hub_data_set_of_ones_own_needs_no_adapter(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    write_rows(tmp_path / "mirror" / "lab" / "sums" / "data" / "a.jsonl", ROWS)
    text = recipe_text(
        f"kind: hub, repo: lab/sums, files: ['data/*.jsonl'], where: 'number(level) >= 2', {MAPPED}"
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
    assert first.metadata["extra"] == {"sol": "so\n#### 6", "level": "2", "topic": "t2"}
    assert report.manifest["stages"]["math"]["where"] == 20
    assert (
        report.manifest["resolved_recipe"]["entries"][0]["source"]["where"] == "number(level) >= 2"
    )


def test_computed_metadata_and_kept_columns(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    line = json.dumps({**ROWS[3], "score": float("nan"), "long": 0})
    write_rows(tmp_path / "a.jsonl", [line.replace('"long": 0', f'"long": {"9" * 5000}')])
    more = "map: {answer: 'split(sol)[2]', metadata.level: 'number(level) + 1', metadata.licence: '\"CC0\"'}"
    text = recipe_text(
        f"kind: file, path: a.jsonl, columns: {{prompt: q}}, {more}, keep: [score, long]"
    )
    build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    (sample,) = load(tmp_path / "d")
    assert (sample.metadata["level"], sample.licence) == (4, "CC0")
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
    write_rows(
        tmp_path / "a.jsonl", [*ROWS, *ROWS[:7], {"q": "no gold", "sol": "#### ", "level": "0"}]
    )
    text = recipe_text(f"kind: file, path: a.jsonl, on_bad_row: drop, {MAPPED}", count)
    report = build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    kept = report.manifest["entries"][0]["splits"]
    assert tuple(kept[s]["kept"] for s in ("train", "validation", "test")) == expected
    assert report.short == {}


def test_percentages_share_out_every_row_and_never_more_than_all() -> None:
    thirds = Counts(train="33.4%", validation="33.3%", test="33.3%")
    for rows in range(50):
        assert sum(thirds.among(s, rows) or 0 for s in ("train", "validation", "test")) == rows
    with pytest.raises(ValueError, match="percentages come to 110%, more than 100%"):
        Counts(train="80%", test="30%")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("where: 'level >'", "source.where: `level >`, character"),
        ("where: 'levl.lower()'", "write lower(text, ...), not text.lower(...)"),
        ("map: {anwser: 'q'}", "map: 'anwser' is not a field of math (did you mean 'answer'?)"),
        ("map: {answer: 'bxed(q)'}", "unknown function 'bxed' (did you mean 'boxed'?)"),
        ("map: {answer: 'q'}, columns: {answer: q}", "'answer' stands in columns and in map"),
        ("adapter: gsm8k, map: {answer: 'q'}", "give 'map' or 'adapter', not both"),
        ("on_bad_row: skip", "must be 'stop', 'drop' or 'quarantine'"),
        ("wehre: 'true'", "unknown key 'wehre' in entry 'mine'.source (did you mean 'where'?)"),
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


BAD = [
    '{"q": "broken',
    {"q": "no gold?", "sol": "the end", "level": "3"},
    {"q": "null?", "sol": None, "level": "3"},
    {"q": "nan?", "sol": "#### NaN", "level": "3"},
    {"q": " ", "sol": "#### 1", "level": "3"},
    {"q": "no level?", "sol": "#### 1"},
    [1, 2],
]


def test_a_build_that_stops_names_the_first_bad_row_and_how_many_more(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    write_rows(tmp_path / "a.jsonl", [*ROWS, *BAD[1:6]])
    text = recipe_text(f"kind: file, path: a.jsonl, where: 'number(level) > 0', {MAPPED}")
    with pytest.raises(DatasetError) as caught:
        build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())
    line = str(caught.value)
    assert (
        "a.jsonl:41: map.answer `after(sol, \"####\")`, character 1: after finds no '####'" in line
    )
    assert "4 more of these 45 rows are bad (lines 42, 43, 44, 45)" in line
    assert "on_bad_row: drop or quarantine" in line


@pytest.mark.parametrize("policy", ["drop", "quarantine"])
def test_bad_rows_are_left_out_counted_and_kept_on_the_side(
    make_recipe: Make, tmp_path: Path, accepting: Any, policy: str
) -> None:
    write_rows(tmp_path / "a.jsonl", [*ROWS[:20], *BAD, *ROWS[20:]])
    text = recipe_text(
        f"kind: file, path: a.jsonl, where: 'number(level) >= 0', on_bad_row: {policy}, {MAPPED}"
    )
    out = tmp_path / "d"
    report = build_with(accepting, make_recipe(text), out, progress=NullProgress())
    assert len(load(out)) == 40
    assert {r: n for r, n in report.manifest["drops"].items() if r.startswith("bad row: ")} == {
        "bad row: the row cannot be read": 2,
        "bad row: map.answer has no value": 2,
        "bad row: gold: null word": 1,
        "bad row: the prompt is empty": 1,
        "bad row: where has no value": 1,
    }
    file = out / "quarantine.jsonl"
    assert file.exists() is (policy == "quarantine")
    if policy == "quarantine":
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert report.manifest["files"]["quarantine.jsonl"]["rows"] == len(rows) == 7
        assert [row["place"] for row in rows] == [f"a.jsonl:{n}" for n in range(21, 28)]
        assert rows[3]["columns"] == BAD[3] and "no answer (null word): 'NaN'" in rows[3]["detail"]
        assert rows[0]["columns"] == {"text": BAD[0]}
        assert str(tmp_path) not in file.read_text()
        again = build_with(accepting, make_recipe(text), tmp_path / "e", progress=NullProgress())
        assert (again.path / "quarantine.jsonl").read_bytes() == file.read_bytes()


def test_a_build_that_keeps_nothing_says_why(
    make_recipe: Make, tmp_path: Path, accepting: Any
) -> None:
    write_rows(tmp_path / "a.jsonl", [{**row, "sol": "none"} for row in ROWS])
    text = recipe_text(f"kind: file, path: a.jsonl, on_bad_row: drop, {MAPPED}")
    with pytest.raises(
        UserError,
        match=r"all 40 were dropped: bad row: map.answer has no value \(40, as mine-0: a.jsonl:1: map",
    ):
        build_with(accepting, make_recipe(text), tmp_path / "d", progress=NullProgress())


PLUGIN = """
from prorl_datasets import FunctionSpec
from prorl_verifiers import VerifierSpec

def last_number(text):
    if "boom" in text:
        raise RuntimeError("no luck\\nat all")
    return [word for word in text.split() if word.isdigit()][-1]

LAST = FunctionSpec(name="last_number", call=last_number)
EXACT = VerifierSpec(name="word_for_word", score=lambda response, reference: response == reference["answer"])
"""


def test_a_function_and_a_verifier_of_ones_own_serve_a_plain_file(
    make_recipe: Make, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    write_rows(tmp_path / "a.jsonl", [*ROWS[:4], {"q": "boom?", "sol": "boom"}])
    source = "kind: file, path: a.jsonl, columns: {prompt: q}, map: {answer: last_number(sol)}, on_bad_row: quarantine"
    text = "plugins: [mine.py]\n" + recipe_text(source, more="verifier: word_for_word, ")
    report = build(
        make_recipe(text), tmp_path / "d", progress=NullProgress(), options=BuildOptions(workers=1)
    )
    samples = load(tmp_path / "d")
    assert [s.task.reference["answer"] for s in samples] == ["0", "2", "6", "12"]
    assert {s.task.verifier for s in samples} == {"word_for_word"}
    parts = {(part["group"], part["name"]) for part in report.manifest["parts"]}
    assert parts == {("prorl.sources", "last_number"), ("prorl.verifiers", "word_for_word")}
    (bad,) = (tmp_path / "d" / "quarantine.jsonl").read_text().splitlines()
    assert "last_number raised RuntimeError: no luck at all (mine.py, line " in bad
    assert verify_dataset(tmp_path / "d", progress=NullProgress(), workers=1).ok


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
        columns={"prompt": "q", "id": "key"},
        map={"answer": "boxed(sol)", "metadata.level": "number(level)"},
        where="len(q) > 3 and not absent(sol) or true",
        keep=["topic"],
    )
    assert columns_needed("math", settings) == ["q", "key", "sol", "level", "topic"]
    assert columns_needed("code", RowSettings(kind="file")) == ["prompt", "tests"]
