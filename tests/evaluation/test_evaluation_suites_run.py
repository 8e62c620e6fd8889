from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from doubles import Messages

from prorl_common import NullProgress, Progress, ServiceError
from prorl_datasets import DatasetError
from prorl_evaluation import EvalSettings, boundary_report
from prorl_evaluation.sampling.choose import Run, Target
from prorl_evaluation.sampling.session import Session
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.suites.runner import (
    SuiteResult,
    finished_by_all,
    join_results,
    run_suite,
    without_code,
)
from prorl_evaluation.suites.sources import (
    Failure,
    Gathered,
    Ready,
    Selection,
    gather_benchmarks,
    is_service,
    shared_lines,
    shared_with,
    training_data,
)
from prorl_evaluation.suites.suite import Suite, parse_suite
from prorl_evaluation.suites.tables import markdown, percent, save_suite, suite_json, suite_tables
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import Completion, Generator, Request, SamplingParams, Usage
from prorl_verifiers import Task, Verdict

SUITE = """
name: mine
title: Mine
benchmarks:
  - {name: sums, domain: math, families: [add], count: 2}
  - {name: facts, domain: stem, families: [density], count: 2}
tables:
  - title: Math
    average: true
    columns: [{benchmark: sums, head: S}, {benchmark: facts, head: F}]
  - {title: By size, benchmark: sums, by: rung, trained: [2]}
"""


@dataclass(frozen=True, slots=True)
class FakeSession(Session):
    """A session with fake models."""

    generators: dict[str, FakeGenerator] = field(default_factory=dict)

    def open(self, target: Target, progress: Progress) -> Generator:
        return self.generators[target.slug]


def suite() -> Suite:
    return parse_suite(SUITE, "mine", Path())


def ready(name: str, start: int, rungs: Sequence[int] = ()) -> Ready:
    samples = make_samples(4, "math", start)
    if rungs:
        samples = [
            replace(s, metadata={"rung": rungs[i % len(rungs)], "family": "add"})
            for i, s in enumerate(samples)
        ]
    return Ready(name, samples, f"manifest of {name}")


def session(tmp_path: Path, **percent: int) -> FakeSession:
    generators = {slug: FakeGenerator(slug, f"digest of {slug}", p) for slug, p in percent.items()}
    targets = [Target(slug, slug, slug) for slug in percent]
    settings = EvalSettings(4, 1, max_tokens=8, draws=200)
    return FakeSession(targets, None, (), settings, out=tmp_path, generators=generators)


def both() -> Gathered:
    return Gathered([ready("sums", 0, (2, 10)), ready("facts", 10)])


def built(folder: Path, split: str) -> Path:
    """Build three math problems as a dataset folder with one split."""
    from prorl_common import sha256_file
    from prorl_datasets.storage import write_split

    folder.mkdir()
    rows = [
        {
            "id": s.id,
            "domain": s.domain,
            "split": split,
            "prompt": [dict(m) for m in s.prompt],
            "verifier": s.task.verifier,
            "reference": s.task.reference_json(),
            "source": s.source,
            "licence": s.licence,
            "gold_check": s.gold_check,
            "metadata": "{}",
        }
        for s in make_samples(3)
    ]
    file = folder / f"{split}.parquet"
    write_split(file, rows)
    manifest = {"files": {file.name: {"sha256": sha256_file(file)}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


class Breaking(FakeScorer):
    """Raise for the problems whose answer names an error."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        if any(task.reference["answer"] == "broken" for _, task in items):
            raise ServiceError("the sandbox is gone")
        return super().score(items)


def test_every_model_has_a_number_for_every_benchmark_and_a_folder_of_its_own(
    tmp_path: Path,
) -> None:
    where = session(tmp_path, base=0, trained=100)
    result = run_suite(suite(), both(), where, FakeScorer(), NullProgress())
    assert result.exit_code == 0 and result.names == ("sums", "facts")
    table, ladder = suite_tables(result)
    rows = {row[0]: row[1:] for row in table.table.rows}
    assert [c.split("\n")[0] for c in rows["base"]] == ["0.00", "0.00", "0.00"]
    assert [c.split("\n")[0] for c in rows["trained"]] == ["100.00", "100.00", "100.00"]
    assert rows["trained minus base"][0].startswith("+100.00")
    assert ladder.table.head == ("", "2*", "10")
    assert "* this size is in the training data of our recipes" in ladder.below
    folders = sorted(p.parent.relative_to(tmp_path).parts[0] for p in tmp_path.rglob("result.json"))
    assert folders == ["base", "base", "trained", "trained"]


def test_a_suites_benchmarks_join_into_one_result_a_model(tmp_path: Path) -> None:
    where = session(tmp_path, base=0, trained=100)
    result = run_suite(suite(), both(), where, FakeScorer(), NullProgress())
    short = replace(result.models[1], results={"facts": result.models[1].results["facts"]})
    finished, left = finished_by_all(result.models)
    assert finished == ["sums", "facts"] and not left
    base, trained = (join_results(m.results, "mine") for m in result.models)
    assert len(base.problems) == 8 and len({p.id for p in base.problems}) == 8
    assert base.overall.pass_at_k[1].value == 0.0 and trained.overall.pass_at_k[1].value == 1.0
    names = {g.name for g in boundary_report([base, trained]).groups if g.kind == "benchmark"}
    assert names == {"sums", "facts"}
    assert finished_by_all([result.models[0], short]) == (["facts"], ["sums"])
    assert finished_by_all([result.models[0], replace(short, results={})])[0] == []


def test_a_benchmark_that_breaks_is_a_dash_with_its_reason_and_the_next_goes_on(
    tmp_path: Path,
) -> None:
    bad = [replace(s, task=Task("math", {"answer": "broken"})) for s in make_samples(2, start=50)]
    gathered = Gathered([Ready("sums", bad, "m"), ready("facts", 10)])
    where = session(tmp_path, base=40)
    result = run_suite(suite(), gathered, where, Breaking(), NullProgress())
    assert [f.benchmark for f in result.failures] == ["sums"] and result.exit_code == 1
    table = suite_tables(result)[0]
    (row,) = table.table.rows
    assert row[1] == "-" and row[2] != "-" and row[3] == "-"
    assert "- sums (base): the sandbox is gone" in table.below

    generator = where.generators["base"]
    calls = generator.calls
    again = run_suite(suite(), gathered, where, FakeScorer(), NullProgress())
    assert again.exit_code == 0 and generator.calls == calls  # its samples were kept


def test_after_two_service_failures_a_models_other_benchmarks_are_not_tried(tmp_path: Path) -> None:
    class Dead(FakeGenerator):
        def generate(self, *_: Any, **__: Any) -> Any:
            raise ServiceError("no server")

    where = session(tmp_path, base=0)
    where.generators["base"] = Dead()
    gathered = Gathered([ready("sums", 0), ready("facts", 10), ready("third", 20)])
    result = run_suite(suite(), gathered, where, FakeScorer(), NullProgress())
    assert [f.reason for f in result.failures] == [
        "no server",
        "no server",
        "not tried after service failures with sums and facts",
    ]


def test_an_interruption_keeps_what_is_done_and_the_same_call_goes_on(tmp_path: Path) -> None:
    where = session(tmp_path, base=40)
    where.generators["base"].interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        run_suite(suite(), both(), where, FakeScorer(), NullProgress())
    assert len(list(tmp_path.rglob("result.json"))) == 1
    where.generators["base"].interrupt_at = 0
    run_suite(suite(), both(), where, FakeScorer(), NullProgress())
    assert len(where.generators["base"].batches) == 2  # each benchmark was sampled once


def test_what_cannot_be_had_is_in_the_tables_and_decides_the_exit_code(tmp_path: Path) -> None:
    for service, code in ((True, 1), (False, 2)):
        gathered = Gathered([ready("facts", 10)], [Failure("sums", "gated: accept", service)])
        where = session(tmp_path / str(code), base=40)
        result = run_suite(suite(), gathered, where, FakeScorer(), NullProgress())
        assert result.exit_code == code
        assert "- sums: gated: accept" in suite_tables(result)[0].below
    assert "\n- sums: gated: accept" in markdown(suite_tables(result))


def test_the_outcome_is_saved_as_json_and_markdown_under_one_name(tmp_path: Path) -> None:
    where = session(tmp_path, base=40)
    result = run_suite(suite(), both(), where, FakeScorer(), NullProgress())
    page = save_suite(result, tmp_path)
    assert save_suite(result, tmp_path) == page
    value = json.loads(page.with_suffix(".json").read_text())
    assert value == json.loads(json.dumps(suite_json(result)))
    (model,) = value["models"]
    sums = model["benchmarks"]["sums"]
    assert sums["problems"] == 4 and set(sums["groups"]["rung"]) == {"2", "10"}
    assert 0 <= sums["low"] <= sums["value"] <= sums["high"] <= 1
    assert page.read_text().count("### ") == 2


def test_code_that_cannot_be_isolated_is_left_out_and_a_benchmark_of_it_fails() -> None:
    def code(i: int) -> Any:
        return replace(make_samples(1, "code", i)[0], task=Task("code", {"tests": []}))

    mixed = Ready("mixed", [*make_samples(2), code(7)], "m")
    found = without_code(Gathered([mixed, Ready("pure", [code(8)], "m")]), "no isolation: cure")
    assert [len(one.samples) for one in found.ready] == [2]
    assert found.ready[0].notes == ("mixed: 1 code problems are left out: no isolation: cure",)
    assert found.failures == [Failure("pure", "no isolation: cure", service=False)]


def test_a_used_up_family_and_an_unknown_one_fail_alone() -> None:
    content = SUITE.replace("families: [add]", "families: [ad]").replace("count: 2}", "count: 1}")
    found = gather_benchmarks(parse_suite(content, "mine", Path()), Selection(), NullProgress())
    assert [one.name for one in found.ready] == ["facts"]
    (failure,) = found.failures
    assert "no math family 'ad' (did you mean 'add'?)" in failure.reason and not failure.service


def test_the_same_suite_gives_the_same_problems_and_a_limit_their_beginning() -> None:
    whole = gather_benchmarks(suite(), Selection(), NullProgress())
    again = gather_benchmarks(suite(), Selection(), NullProgress())
    part = gather_benchmarks(suite(), Selection(["sums"], 1), NullProgress())
    assert [one.manifest for one in whole.ready] == [one.manifest for one in again.ready]
    assert list(part.ready[0].samples) == list(whole.ready[0].samples)[:1]


def test_a_split_of_a_built_dataset_is_a_benchmark(tmp_path: Path) -> None:
    built(tmp_path / "data", "test")
    content = "name: d\ntitle: D\nbenchmarks: [{name: own, dataset: data}]\n"
    found = gather_benchmarks(parse_suite(content, "d", tmp_path), Selection(), NullProgress())
    assert [len(one.samples) for one in found.ready] == [3]


def answered(status: int) -> Exception:
    error = OSError("HTTP")
    error.response = type("Response", (), {"status_code": status})()  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("cause", "service"),
    [
        (ConnectionRefusedError(), True),
        (TimeoutError(), True),
        (answered(503), True),
        (answered(401), False),
        (answered(404), False),
        (FileNotFoundError(), False),
        (None, False),
    ],
)
def test_a_hub_that_is_down_is_a_service_and_one_that_refuses_is_not(
    cause: Exception | None, service: bool
) -> None:
    error = DatasetError("not to be had")
    error.__cause__ = cause
    assert is_service(error) is service


def test_problems_of_the_training_data_are_named(tmp_path: Path) -> None:
    data = built(tmp_path / "data", "train")
    run = Run(tmp_path, {"data": {"path": str(data)}})
    assert training_data(run) == data and training_data(None) is None
    samples = make_samples(2, "math")
    told = {"role": "user", "content": "MATH  question 0.\nLet's think step by step."}
    other = replace(samples[1], prompt=({"role": "user", "content": "something else"},))
    given = [Ready("sums", [replace(samples[0], prompt=(told,)), other], "m")]
    shared = shared_with(given, data, NullProgress())
    assert shared == {"sums": ("math-0",)}
    assert shared_lines(shared, given)[0].startswith("sums: 1 of 2 problems also occur")


# Files of a suite, Markdown, and the server cost of each benchmark


OWN = """
name: mine
title: Mine
benchmarks:
  - {name: sums, domain: math, families: [add], count: 2}
  - {name: facts, domain: stem, families: [density], count: 2}
"""


@dataclass(frozen=True, slots=True)
class OneModel(Session):
    """A session with one fake model."""

    generator: FakeGenerator = field(default_factory=FakeGenerator)

    def open(self, target: Target, progress: Progress) -> Generator:
        return self.generator


class Metered(FakeGenerator):
    """Count tokens like a server's generator: 10 in and 5 out, at 1 and 2 per million."""

    def __init__(self) -> None:
        super().__init__()
        self.usage = Usage((1.0, 2.0))

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        found = super().generate(requests, params, on_done, on_result)
        answers = sum(len(one) for one in found)
        self.usage.answers += answers
        self.usage.retries += 1
        self.usage.prompt_tokens += 10 * answers
        self.usage.completion_tokens += 5 * answers
        return found


def session_of_one(tmp_path: Path, label: str = "base", **named: Any) -> OneModel:
    settings = EvalSettings(2, 1, max_tokens=8, draws=100)
    return OneModel([Target(label, "base", "base")], None, (), settings, out=tmp_path, **named)


def gathered() -> Gathered:
    return Gathered([Ready("sums", make_samples(4), "a"), Ready("facts", make_samples(2), "b")])


def run(where: OneModel, progress: Progress | None = None) -> SuiteResult:
    suite = parse_suite(OWN, "mine", Path())
    return run_suite(suite, gathered(), where, FakeScorer(), progress or NullProgress())


def test_what_each_benchmark_asked_of_a_server_is_said_by_itself(tmp_path: Path) -> None:
    progress = Messages()
    run(session_of_one(tmp_path, generator=Metered()), progress)
    said = [line for line in progress.lines if line.startswith("server: ")]
    assert said == [
        "server: 8 answers, 80 tokens in, 40 out, 1 retries, cost 0.00016",
        "server: 4 answers, 40 tokens in, 20 out, 1 retries, cost 8e-05",
    ]


def test_a_benchmark_that_asked_a_server_for_nothing_says_nothing(tmp_path: Path) -> None:
    generator = Metered()
    run(session_of_one(tmp_path, generator=generator))
    progress = Messages()
    run(session_of_one(tmp_path, generator=generator), progress)
    assert not [line for line in progress.lines if line.startswith("server: ")]


def test_limits_backends_and_request_fields_have_files_of_their_own(tmp_path: Path) -> None:
    whole = run(session_of_one(tmp_path))
    first, second = (run(session_of_one(tmp_path, limit=limit)) for limit in (1, 2))
    thinking = replace(whole.settings, backend="server:chat", extra={"think": True})
    served = [replace(whole, settings=replace(thinking, extra=e)) for e in ({}, thinking.extra)]
    results = [whole, first, second, *served]
    pages = [save_suite(result, tmp_path) for result in results]
    assert len(set(pages)) == 5
    assert [save_suite(result, tmp_path) for result in results] == pages
    assert first.partial and not whole.partial
    values = [json.loads(page.with_suffix(".json").read_text())["settings"] for page in pages]
    assert [v["limit"] for v in values] == [None, 1, 2, None, None]
    assert [v["backend"] for v in values[2:4]] == ["transformers", "server:chat"]
    assert values[4]["extra"] == {"think": True}


def test_an_unlimited_transformers_suite_keeps_its_files_name(tmp_path: Path) -> None:
    assert save_suite(run(session_of_one(tmp_path)), tmp_path).name == "suite-mine-9464f990.md"


@pytest.mark.parametrize("label", ["<img src=x onerror=a()>", "[free](http://x)", "a|b", "*b*"])
def test_nothing_a_name_or_a_reason_holds_is_markup_in_the_markdown(
    tmp_path: Path, label: str
) -> None:
    result = run(session_of_one(tmp_path, label))
    failed = replace(result, failures=(Failure("sums", f"odd {label}", service=False),))
    page = markdown(suite_tables(failed))
    for markup in ("<img", "[free](", " *b*"):
        assert markup not in page.replace("\\<", "").replace("\\*", "")
    assert "a|b" not in page


def test_a_cell_has_the_interval_over_problems_and_that_of_these_very_problems() -> None:
    wide, narrow = Interval(0.4375, 0.3, 0.6, 30), Interval(0.4375, 0.4, 0.47, 30)
    assert percent(wide, fixed=narrow) == "43.75\n[30.0, 60.0]\n{40.0, 47.0}"
    assert percent(wide) == "43.75\n[30.0, 60.0]"


def test_numbers_stay_plain_in_the_markdown(tmp_path: Path) -> None:
    page = markdown(suite_tables(run(session_of_one(tmp_path))))
    row = next(line for line in page.splitlines() if line.startswith("| base |"))
    assert "\\" not in row and row.count("|") == 4
