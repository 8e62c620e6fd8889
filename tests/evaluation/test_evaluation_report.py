from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import NullProgress
from prorl_common.markup import fence, md
from prorl_datasets import Sample
from prorl_evaluation import (
    EvalResult,
    EvalSettings,
    EvaluationError,
    Example,
    ProblemResult,
    compare,
    evaluate,
)
from prorl_evaluation.report.data import (
    BINS,
    ReportData,
    ReportOptions,
    rate_counts,
    read_rows,
    report_data,
)
from prorl_evaluation.report.markdown import markdown_report
from prorl_evaluation.report.words import caveats, commands, headline
from prorl_evaluation.summary import group_results
from prorl_evaluation.tables import result_table
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_evaluation.types import BEFORE_RL

SETTINGS = EvalSettings(n=16, k=8, draws=300)


def result(out: Path, percent: int, samples: list[Sample], label: str = "") -> EvalResult:
    generator = FakeGenerator(model_id=f"m{percent}", model_digest=f"d{percent}", percent=percent)
    settings = dataclasses.replace(SETTINGS, label=label)
    return evaluate(generator, samples, settings, out, FakeScorer(), NullProgress())


@pytest.fixture
def pair(tmp_path: Path) -> list[EvalResult]:
    samples = [*make_samples(13), *make_samples(12, "logic")]
    return [
        result(tmp_path / "a", 15, samples, "the base"),
        result(tmp_path / "b", 60, samples, "the policy"),
    ]


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    run = tmp_path / "runs" / "demo"
    run.mkdir(parents=True)
    metrics = [
        {"step": i, "reward_mean": i / 20, "pass_rate": i / 30, "kl": 0.01, "entropy": 1.0}
        for i in range(1, 11)
    ]
    lines = "".join(json.dumps(m) + "\n" for m in metrics)
    (run / "metrics.jsonl").write_text(lines + '{"step": 11, "torn')
    decisions = [
        {"step": 0, "kind": "warm_start", "reason": "96 gold answers", "evidence": {}},
        {"step": 3, "kind": "penalty_window_opened", "reason": "", "evidence": {}},
        {"step": 5, "kind": "reference_reset", "reason": "", "evidence": {}},
    ]
    (run / "decisions.jsonl").write_text("".join(json.dumps(d) + "\n" for d in decisions))
    return run


def test_a_gain_is_stated_with_its_interval(pair: list[EvalResult]) -> None:
    first, *lines = headline(pair, compare(*pair))
    assert first == compare(*pair).headline(pair[-1].settings.k)
    number = r"[+-]0\.\d{3}"
    assert re.fullmatch(
        rf"pass@1 0\.\d{{3}} → 0\.\d{{3}}, difference {number} \[{number}, {number}\]", lines[0]
    )


def test_a_difference_that_may_be_nothing_is_called_that(
    tmp_path: Path, pair: list[EvalResult]
) -> None:
    first, *lines = headline([pair[0], pair[0]], compare(pair[0], pair[0]))
    assert first.startswith("No change was shown")
    assert all("not distinguishable" in line for line in lines)
    few = [result(tmp_path / f"few{p}", p, make_samples(4)) for p in (0, 100)]
    first, second, *_ = headline(few, compare(*few))
    assert first.startswith("Too few problems to say") and "only 4 problems" in second


def test_what_weakens_the_numbers_is_said(tmp_path: Path, run_dir: Path) -> None:
    samples = make_samples(4)
    settings = EvalSettings(n=8, k=8, draws=50, label="x")
    broken = evaluate(
        FakeGenerator(model_digest="o"),
        samples,
        settings,
        tmp_path / "x",
        FakeScorer(broken="no"),
        NullProgress(),
    )
    broken = dataclasses.replace(broken, isolation=("weak:rlimits",))
    sound = result(tmp_path / "y", 10, samples)
    found = " | ".join(caveats(report_data([sound, broken], run_dir)))
    for words in (
        "supervised steps before RL (96 gold answers)",
        "pass@8 from n = 8 samples is little more than whether any of them succeeded",
        "infra error",
        "cut at the token limit",
        "without full isolation",
        "say little about similar",
        "n differs: 16 against 8",
    ):
        assert words in found, words


def test_a_result_of_nothing_but_infra_errors_makes_a_report(tmp_path: Path) -> None:
    empty = evaluate(
        FakeGenerator(), make_samples(2), SETTINGS, tmp_path, FakeScorer(broken=""), NullProgress()
    )
    shown = markdown_report(report_data([empty], None))
    assert "nan" not in shown.lower()


def test_a_report_with_nothing_solved_says_so_once_and_leaves_the_tables_of_solved_out(
    tmp_path: Path,
) -> None:
    samples = [*make_samples(13), *make_samples(12, "logic")]
    none = [result(tmp_path / name, 0, samples, name) for name in ("base", "policy")]
    data = report_data(none, None)
    written = markdown_report(data)
    assert "Nothing solved: none of 800 answers earned a reward" in written
    assert "Results by domain" not in written and "boundary move" not in written
    assert "Truncation, extraction" in written and "Examples" in written
    assert "too few problems" not in written and "not distinguishable" not in written


def test_a_damaged_metrics_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\nbroken\n')
    with pytest.raises(EvaluationError, match=r"metrics\.jsonl:2"):
        read_rows(path)


def test_no_result_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="at least one result"):
        report_data([], None)


def test_the_commands_that_make_it_again_name_limit_and_server(pair: list[EvalResult]) -> None:
    origin = {"path": "data/x", "split": "test", "limit": "25"}
    limited = dataclasses.replace(pair[0].settings, dataset=origin)
    served = dataclasses.replace(limited, backend="server:chat")
    first = dataclasses.replace(pair[0], settings=limited)
    second = dataclasses.replace(pair[1], settings=served)
    here, there, *_ = commands(report_data([first, second], None))
    assert "--model m15 --dataset data/x --split test --limit 25 --k 8" in here
    assert "--set server.url=URL --set server.model=m60 --set server.api=chat" in there
    folder = dataclasses.replace(pair[0].settings, dataset={"path": "quickstart"})
    named, *_ = commands(report_data([dataclasses.replace(pair[0], settings=folder)], None))
    assert named.startswith("prorl eval pass-at-k") and "--dataset quickstart" in named
    assert "--model" not in there
    plugged = dataclasses.replace(pair[0].settings, backend="lab")
    outside, *_ = commands(report_data([dataclasses.replace(pair[0], settings=plugged)], None))
    assert outside.endswith("--set model.backend=lab") and "backend" not in here + there


def test_every_later_results_other_sampling_and_left_out_problems_are_said(
    pair: list[EvalResult],
) -> None:
    other = dataclasses.replace(pair[0].settings, extra={"top_k": 1}, label="the middle")
    few = dataclasses.replace(pair[1].problems[0], n=4, c=1, answers=None)
    problems = (few, *pair[1].problems[1:])
    groups = group_results(problems, pair[1].settings)
    last = dataclasses.replace(pair[1], problems=problems, groups=groups)
    middle = dataclasses.replace(pair[0], settings=other)
    found = caveats(report_data([pair[0], middle, last], None))
    assert "the middle: request fields differs: {} against {'top_k': 1}" in found
    assert any("pass@8 is over 24 of 25 problems" in line for line in found)
    assert "(24 of 25)" in " ".join(result_table(last).rows[0])


def test_the_boundary_claim_stands_among_the_first_lines(pair: list[EvalResult]) -> None:
    data = report_data(pair, None)
    assert data.boundary is not None
    top = markdown_report(data).split("## Results by domain")[0]
    claim = data.boundary.groups[0].claims[-1]
    assert f"Boundary at pass@{data.boundary.k}, the policy: {claim.regime}, " in top


# The report's boundary part, its Markdown and JSON, and the commands that write them and the page


N = 32
EVIL = "</details><script>1</script>|`]]>\u202e[a](javascript:1)"


def problem(task: int, place: int, c: int) -> ProblemResult:
    """Return one judged problem of a task; every third task's problems belong to a ladder."""
    labels: dict[str, str | int | float] = {"family": f"task{task}"}
    if task % 3 == 0:
        labels["difficulty"] = 5 * (1 + place % 3)
    return ProblemResult(
        id=f"t{task}/{place}",
        domain="math" if task % 2 else "logic",
        prompt_sha256=f"p{task}-{place}",
        task_sha256="t",
        sampled=N,
        n=N,
        c=c,
        reward_mean=c / N,
        infra_errors=0,
        timeouts=0,
        unparsable=0,
        truncated=0,
        tokens=100 * N,
        labels=labels,
    )


def result_of_tasks(label: str, share: float, tasks: int = 6) -> EvalResult:
    """Return a result whose even tasks are solved at rate ``share`` and the others half of the time."""
    rows = [
        problem(t, i, round(N * share) if t % 2 == 0 else 15 + i % 3)
        for t in range(tasks)
        for i in range(12)
    ]
    settings = EvalSettings(n=N, k=16, draws=200, label=label, dataset={"path": "data/x"})
    groups = group_results(rows, settings)
    return EvalResult(
        f"org/{label}",
        f"{label}" * 8,
        settings,
        tuple(rows),
        groups,
        ("fake",),
        (),
        1,
        1.0,
        1.0,
        "now",
    )


@pytest.fixture(scope="module")
def three() -> list[EvalResult]:
    return [
        result_of_tasks("base", 0.0),
        result_of_tasks("middle", 0.2),
        result_of_tasks("final", 0.6),
    ]


@pytest.fixture(scope="module")
def data(three: list[EvalResult]) -> ReportData:
    options = ReportOptions(false_positive_rate=0.005, command="prorl eval compare x")
    return report_data(three, None, options)


def test_success_rates_are_counted_with_never_and_always_apart() -> None:
    rows = [problem(0, i, c) for i, c in enumerate((0, 0, 1, 16, 31, 32))]
    counts = rate_counts(rows)
    assert len(counts) == len(BINS)
    assert (counts[0], counts[1], counts[6], counts[10], counts[11]) == (2, 1, 1, 1, 1)


def test_hostile_names_stay_text_in_markdown(three: list[EvalResult]) -> None:
    example = Example(EVIL, "math", EVIL, f"````\n{EVIL}", 0.0, "scored", EVIL)
    evil = []
    for place, r in enumerate(three):
        rows = tuple(
            dataclasses.replace(
                p,
                id=p.id + EVIL,
                labels={"family": f"{p.labels['family']}{EVIL}", "difficulty": EVIL},
            )
            for p in r.problems
        )
        settings = dataclasses.replace(r.settings, label=f"{EVIL}{place}")
        evil.append(dataclasses.replace(r, problems=rows, settings=settings, examples=(example,)))
    found = report_data(evil, None)
    lines = markdown_report(found).split("\n")
    fenced, outside = "", []
    for line in lines:
        if fenced:
            fenced = "" if line == fenced else fenced
        elif line.startswith("```"):
            fenced = line.removesuffix("text")
        else:
            outside.append(line)
    assert not fenced
    plain = re.sub(r"\\.", "", "\n".join(outside))
    assert "<script" not in plain and "](" not in plain and "`" not in plain
    widths = [len(re.findall("[|]", re.sub(r"\\.", "", x))) for x in outside if x.startswith("| ")]
    assert min(widths) > 2


def test_markdown_cells_and_fences_hold_what_is_put_in() -> None:
    assert md("a|b\nc") == "a\\|b c"
    assert md("0.5 [0.4, 0.6]") == "0.5 [0.4, 0.6]" and md("graph_color") == "graph_color"
    assert (
        md("1. x") == "1\\. x"
        and md("# x") == "\\# x"
        and md("[a](b)") == "[a\\](b)"
        and md("<b>") == "\\<b>"
    )
    assert fence("```` x").startswith("`````text\n")


def test_the_markdown_holds_every_table(data: ReportData) -> None:
    shown = markdown_report(data)
    for words in ("| claim |", "k = 16", "by luck", "If the verifier", "cut at token", "org/final"):
        assert words in shown, words
    blocks = [b for b in shown.split("\n\n") if b.startswith("| ")]
    for block in blocks:
        assert len({re.sub(r"\\.", "", line).count("|") for line in block.splitlines()}) == 1


def test_the_checkpoint_from_before_rl_is_the_baseline_of_every_part(
    three: list[EvalResult],
) -> None:
    warm = result_of_tasks(f"run step 0 {BEFORE_RL}", 0.2)
    found = report_data([three[0], warm, three[2]], None)
    assert found.comparison is not None and found.boundary is not None
    assert found.comparison.a == found.boundary.labels[0] == warm.label
    assert [line.place for line in found.lines(found.groups[0])] == [0, 1, 2]
    first = report_data([three[0], warm, three[2]], None, ReportOptions(baseline_first=True))
    assert first.boundary is not None and first.boundary.labels[0] == "base"


def test_one_result_has_curves_of_its_tasks_and_no_claims(three: list[EvalResult]) -> None:
    found = report_data(three[:1], None)
    assert found.boundary is None
    assert [g.name for g in found.groups if g.kind == "task"] == [f"task{i}" for i in range(6)]
    assert "Did the boundary move" not in markdown_report(found)


def test_gain_is_over_all_tasks_also_those_that_are_a_whole_benchmark() -> None:
    mixed = []
    for r in (result_of_tasks("base", 0.1), result_of_tasks("final", 0.6)):
        rows = []
        for p in r.problems:
            family = str(p.labels["family"])
            kept = {"benchmark": family} if family in ("task1", "task2") else {"family": family}
            rows.append(dataclasses.replace(p, labels=kept))
        mixed.append(dataclasses.replace(r, problems=tuple(rows)))
    report = report_data(mixed, None).boundary
    assert report is not None
    assert {p.group for p in report.gains[0].points} == {f"task{i}" for i in range(6)}


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", *arguments])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, three: list[EvalResult]) -> list[str]:
    root = tmp_path_factory.mktemp("saved")
    for r in three:
        (root / r.label).mkdir()
        r.save(root / r.label)
    return [str(root / r.label) for r in three]


def answers(file: Path) -> dict[str, Any]:
    """Return the embedded answers about the first subject of a page, by page and query."""
    (held,) = re.findall(r'id="answers">(.*?)</script>', file.read_text(), re.DOTALL)
    value = json.loads(held)
    name = f"{value['opens']}/"
    found = value["answers"].items()
    return {key.removeprefix(name).rstrip("?"): v for key, v in found if key.startswith(name)}


def test_compare_writes_the_same_boundary_as_page_and_markdown(
    folders: list[str], tmp_path: Path
) -> None:
    html, shown = tmp_path / "r.html", tmp_path / "r.md"
    done = call(
        "compare",
        *folders,
        "--html",
        str(html),
        "--md",
        str(shown),
        "--set",
        "comparison.margin=0.1",
        "--json",
    )
    assert done.exit_code == 0, done.output
    reasons = [
        c["reason"] for g in json.loads(done.stdout)["boundary"]["groups"] for c in g["claims"]
    ]
    claims = answers(html)["claims"]
    assert [c["reason"] for c in claims["claims"]] == reasons
    assert all(md(r) in shown.read_text() for r in reasons)
    assert "--set comparison.margin=0.1 --html report.html" in claims["commands"][-1]
