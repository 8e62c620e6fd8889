from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from command_line import prorl as command

from prorl_common import PluginError
from prorl_datasets import (
    ADAPTERS,
    BENCHMARKS,
    RECIPES,
    SOURCES,
    AdapterSpec,
    DatasetError,
    Drop,
    Unusable,
    load,
    load_recipe,
)
from prorl_datasets.benchmarks import (
    LeftOut,
    benchmark_questions,
    load_spec,
    parse_spec,
    read_benchmark,
)
from prorl_datasets.benchmarks.shapes import convert
from prorl_datasets.sources.row_files import adapted

pytestmark = pytest.mark.usefixtures("lab_parts")

RECIPE = """
name: mine
decontamination: {benchmarks: []}
plugins: [mine.py]
entries:
  - name: mine
    domain: math
    source: {kind: triples, options: {count: 6}, columns: {prompt: ask}}
    count: {train: all}
"""
PLUGIN = """
from prorl_datasets import SourceSpec

def rows(options):
    for n in range(options["count"]):
        yield {"ask": f"What is three times {n}?", "answer": 3 * n}

TRIPLES = SourceSpec(name="triples", rows=rows, options={"count": 4})
"""


def prorl(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return command(cwd, *words)


def test_the_source_recipe_and_benchmark_doors_list_them_beside_our_own() -> None:
    assert {"doubles", "file", "hub", "procedural", "reasoning_gym"} <= {*SOURCES.names()}
    assert {"sums", "gsm8k", "gpqa"} <= {*ADAPTERS.names()}
    assert {"lab_doubles", "quickstart"} <= {*RECIPES.names()}
    assert {"lab_gcd", "math_500"} <= {*BENCHMARKS.names()}


@pytest.mark.slow
def test_data_build_takes_an_outside_recipe_source_and_verifier(tmp_path: Path) -> None:
    done = prorl("data", "build", "--recipe", "lab_doubles", "--out", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    samples = list(load(tmp_path / "data"))
    by_words = [s for s in samples if s.task.verifier == "exact"]
    assert (len(by_words), {s.domain for s in by_words}) == (12, {"exact"})
    assert {s.gold_check for s in samples} == {"self-consistent"}
    assert {s.source for s in samples} == {"doubles"}
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert [(p["group"], p["name"], p["source"]) for p in manifest["parts"]] == [
        ("prorl.sources", "doubles", "lab-parts"),
        ("prorl.verifiers", "exact", "lab-parts"),
    ]
    again = prorl("data", "build", "--recipe", "lab_doubles", "--out", "data", cwd=tmp_path)
    assert "nothing to do" in again.stderr
    checked = prorl("data", "verify", "data", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert prorl("data", "inspect", "data", cwd=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_plugin_file_named_in_a_recipe_is_loaded_and_a_changed_one_builds_anew(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE)
    (tmp_path / "mine.py").write_text(PLUGIN)
    words = ("data", "build", "--recipe", "mine.yaml", "--out", "data")
    done = prorl(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list(load(tmp_path / "data"))) == 6
    (part,) = json.loads((tmp_path / "data" / "manifest.json").read_text())["parts"]
    assert part["version"].startswith("sha256:")
    assert "nothing to do" in prorl(*words, cwd=tmp_path).stderr
    (tmp_path / "mine.py").write_text(PLUGIN.replace("three times", "thrice"))
    assert "nothing to do" not in prorl(*words, cwd=tmp_path).stderr
    assert "thrice" in next(iter(load(tmp_path / "data"))).prompt[0]["content"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("kind: triples", "kind: tripels", "unknown source 'tripels' (did you mean 'triples'"),
        ("count: 6", "cuont: 6", "unknown option 'cuont' (did you mean 'count'?)"),
        ("prompt: ask", "prompt: aks", "no column 'aks' (did you mean 'ask'?)"),
    ],
)
def test_a_name_that_is_none_is_one_line_with_the_nearest(
    old: str, new: str, line: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE.replace(old, new))
    (tmp_path / "mine.py").write_text(PLUGIN)
    done = prorl("data", "build", "--recipe", "mine.yaml", "--out", "data", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert line in done.stderr.splitlines()[-1]


def test_a_benchmark_by_path_is_checked_and_shown(tmp_path: Path) -> None:
    text = (BENCHMARKS.find("lab_gcd")[0]).read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("lab_gcd", "mine"))
    done = prorl("data", "benchmarks", "./mine.yaml", "--n", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "golds accepted: 1 of 1" in done.stderr
    assert "greatest common divisor" in done.stdout.lower()
    (tmp_path / "other.yaml").write_text(
        text.replace("lab_gcd", "other").replace("verifier: logic", "verifier: logik")
    )
    wrong = prorl("data", "benchmarks", "./other.yaml", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "unknown verifier 'logik' (did you mean 'logic'" in wrong.stderr


def test_unknown_recipes_and_benchmarks_name_the_nearest_and_their_sources() -> None:
    with pytest.raises(DatasetError, match=r"did you mean 'lab_doubles'.*of lab-parts"):
        load_recipe("lab_double")
    with pytest.raises(DatasetError, match="did you mean 'lab_gcd'"):
        load_spec("lab_gdc")


SUMS = """
{"key": "a", "sum": "1 + 2", "is": 3}
{"key": "b", "sum": "2 + 2", "is": 4}
{"key": "c", "sum": "2 + 3", "is": null}
"""
ADAPTED = """
name: mine
decontamination: {benchmarks: []}
entries:
  - name: mine
    domain: math
    source: {kind: file, path: sums.jsonl, adapter: sums}
    count: {train: all}
"""
BENCHMARK = """
name: bench
title: Sums
domain: math
verifier: math
metric: mean_of_n
licence: MIT
prompt: "{question} Answer in a box."
hub: {repo: lab/sums, files: [sums.jsonl]}
unusable_max: 0.5
"""


def test_an_outside_adapter_reads_a_published_set_for_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(ADAPTED)
    (tmp_path / "sums.jsonl").write_text(SUMS.lstrip())
    words = ("data", "build", "--recipe", "mine.yaml", "--out", "data")
    done = prorl(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    samples = {s.metadata["source_id"]: s for s in load(tmp_path / "data")}
    assert {name: s.gold_check for name, s in samples.items()} == dict.fromkeys(
        "ab", "self-consistent"
    )
    assert "What is 1 + 2?" in samples["a"].prompt[0]["content"]
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert [(p["group"], p["name"]) for p in manifest["parts"]] == [("prorl.sources", "sums")]
    (entry,) = manifest["entries"]
    assert entry["drops"] == {"no sum": 1}


def test_an_outside_adapter_reads_a_benchmark_too(tmp_path: Path) -> None:
    (tmp_path / "bench.yaml").write_text(BENCHMARK + "adapter: sums\n")
    (tmp_path / "bench.jsonl").write_text(SUMS.lstrip())
    words = ("data", "benchmarks", "./bench.yaml", "--mirror", ".", "--n", "1")
    done = prorl(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "golds accepted: 2 of 2" in done.stderr
    assert "What is 1 + 2? Answer in a box." in done.stdout
    ids = [name for name, _ in benchmark_questions(str(tmp_path / "bench.yaml"), mirror=tmp_path)]
    assert ids == ["bench-a", "bench-b"]


def test_a_benchmark_of_columns_alone_needs_no_adapter(tmp_path: Path) -> None:
    columns = "columns: {question: [ask, q], answer: [is], id: [key]}\noptional: [answer]\n"
    (tmp_path / "bench.yaml").write_text(BENCHMARK + columns)
    (tmp_path / "bench.jsonl").write_text(SUMS.lstrip().replace("sum", "q"))
    loaded = read_benchmark(str(tmp_path / "bench.yaml"), mirror=tmp_path)
    assert [(s.id, s.task.reference["answer"]) for s in loaded.samples] == [
        ("bench-a", "3"),
        ("bench-b", "4"),
    ]
    (left_out,) = loaded.unusable
    assert left_out.reason == "column 'answer' is empty"


def test_a_column_that_a_benchmarks_adapter_needs_and_is_not_there_is_one_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "bench.yaml").write_text(BENCHMARK + "adapter: sums\n")
    (tmp_path / "bench.jsonl").write_text(SUMS.lstrip().replace('"is"', '"si"'))
    wrong = r"bench.jsonl:1: no column 'is' \(did you mean 'si'\?\); columns found: key, sum, si"
    with pytest.raises(DatasetError, match=wrong):
        read_benchmark(str(tmp_path / "bench.yaml"), mirror=tmp_path)
    with pytest.raises(DatasetError, match=wrong):
        list(benchmark_questions(str(tmp_path / "bench.yaml"), mirror=tmp_path))


def test_a_row_that_the_verifier_refuses_is_left_out_of_a_benchmark(tmp_path: Path) -> None:
    (tmp_path / "bench.yaml").write_text(BENCHMARK + "adapter: sums\n")
    (tmp_path / "bench.jsonl").write_text(SUMS.lstrip().replace("null", '""'))
    loaded = read_benchmark(str(tmp_path / "bench.yaml"), mirror=tmp_path)
    assert [s.id for s in loaded.samples] == ["bench-a", "bench-b"]
    assert [row.reason for row in loaded.unusable] == ["column 'answer' is empty"]


def test_a_column_that_an_adapter_did_not_announce_is_one_line_too() -> None:
    hasty = AdapterSpec("hasty", convert=lambda raw, where, index: {"prompt": raw["ask"]})
    with pytest.raises(DatasetError, match=r"f:1: no column 'ask' \(did you mean 'task'\?\)"):
        adapted(hasty, "math", {"task": "1 + 1?"}, "f:1", 0)
    other = AdapterSpec("other", convert=lambda raw, where, index: {"a": 1}[raw["ask"]])
    with pytest.raises(KeyError, match="ask"):  # the column exists, so the error is the adapter's
        adapted(other, "math", {"ask": "ask"}, "f:1", 0)


def test_an_adapter_raises_unusable_for_sources_and_benchmarks_alike() -> None:
    def refuse(*row: object) -> dict[str, str]:
        raise Unusable("no sum", "of two numbers")

    made = adapted(AdapterSpec("picky", convert=refuse), "math", {}, "f:1", 3)
    assert made == Drop(3, "no sum", "f:1: of two numbers")
    spec = load_spec("gpqa_diamond")
    row = {"Record ID": "a", "Question": "Q", "Correct Answer": "x"}
    wrong = {f"Incorrect Answer {n}": "x" for n in (1, 2, 3)}
    assert convert(spec, row | wrong, "f:2") == LeftOut("f:2", "two options are the same text")


def test_no_adapter_may_have_the_name_that_stands_for_generated_items() -> None:
    with pytest.raises(PluginError, match=r"adapter 'reasoning_gym': .*choose another"):
        AdapterSpec("reasoning_gym", convert=lambda raw, where, index: {})


def test_a_benchmark_whose_adapter_gives_another_domain_is_refused() -> None:
    text = BENCHMARK.replace("domain: math", "domain: stem") + "adapter: sums\n"
    with pytest.raises(DatasetError, match="adapter 'sums' makes math items, not stem"):
        parse_spec(text, "bench")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("adapter: sums", "adapter: sum", "unknown adapter 'sum' (did you mean 'sums'"),
        ("adapter: sums", "adapter: gpqa", "adapter 'gpqa' reads only benchmarks, not sources"),
        ("domain: math", "domain: stem", "adapter 'sums' makes math items, not stem"),
        ('"is"', '"si"', "no column 'is' (did you mean 'si'?)"),
    ],
)
def test_an_adapter_that_does_not_fit_is_one_line(
    old: str, new: str, line: str, tmp_path: Path
) -> None:
    recipe = ADAPTED.replace(old, new)
    (tmp_path / "mine.yaml").write_text(recipe)
    (tmp_path / "sums.jsonl").write_text(SUMS.lstrip().replace(old, new))
    done = prorl("data", "build", "--recipe", "mine.yaml", "--out", "data", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert line in done.stderr.splitlines()[-1]


FAULTY = """
from prorl_datasets import AdapterSpec, SourceSpec

def half(raw, where, index):
    return {"prompt": raw["ask"], "answer": 1 / 0}

SPLIT = AdapterSpec(name="halves", convert=half)
LOST = SourceSpec(name="lost", rows=lambda options: None)
"""


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        (
            "kind: lost",
            2,
            "source 'lost': rows(options) must yield dictionaries of columns, but it returned None",
        ),
        ("kind: file, path: a.jsonl, adapter: halves", 1, 'mine.py", line 5, in half)'),
    ],
)
def test_a_fault_of_a_source_or_adapter_names_it_or_its_line(
    source: str, code: int, line: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(FAULTY)
    (tmp_path / "a.jsonl").write_text('{"ask": "What is 1 + 1?"}\n')
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nplugins: [mine.py]\ndecontamination: {benchmarks: []}\nentries:\n"
        f"  - {{name: e, domain: math, source: {{{source}}}, count: {{train: all}}}}\n"
    )
    done = prorl("data", "build", "--recipe", "mine.yaml", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert line in done.stderr.splitlines()[-1]
