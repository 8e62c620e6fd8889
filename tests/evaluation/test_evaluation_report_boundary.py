"""The report's boundary part, its Markdown and JSON, and the verbs that write them."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import escape
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common.markup import fence, md
from prorl_common.svg import Axis, linear_ticks, marker
from prorl_evaluation import BoundaryOptions, EvalResult, EvalSettings, Example, ProblemResult
from prorl_evaluation.metrics.summary import group_results
from prorl_evaluation.report.data import (
    BINS,
    Line,
    ReportData,
    ReportOptions,
    rate_counts,
    report_data,
)
from prorl_evaluation.report.figures import curves_panel
from prorl_evaluation.report.html import page
from prorl_evaluation.report.markdown import markdown_report
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.types import BEFORE_RL

N = 32
EVIL = "</details><script>1</script>|`]]>\u202e[a](javascript:1)"


def problem(task: int, place: int, c: int) -> ProblemResult:
    """One judged problem of a task; every third task's problems lie on a ladder."""
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


def result(label: str, share: float, tasks: int = 6) -> EvalResult:
    """A result whose tasks of even number are solved at ``share`` and the others half of the time."""
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
    return [result("base", 0.0), result("middle", 0.2), result("final", 0.6)]


@pytest.fixture(scope="module")
def data(three: list[EvalResult]) -> ReportData:
    options = ReportOptions(beta=True, false_positive_rate=0.005, command="prorl eval report x")
    return report_data(three, None, options)


def svgs(html: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(s) for s in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]


def test_the_page_states_each_claim_with_its_p_its_word_and_its_tests(data: ReportData) -> None:
    html = page(data)
    assert data.boundary is not None
    for claim in data.boundary.claims:
        assert escape(claim.reason) in html
        assert all(escape(t.name) in html for t in claim.tests)
    assert html.count("chip sustained") >= 2 and "Holm" in html and "corrected p" in html
    assert "Of 6 tasks:" in html and "t0/3" in html


def test_every_group_has_its_curves_and_the_ladders_their_lines(data: ReportData) -> None:
    html = page(data)
    titles = [s.findtext("title") for s in svgs(html) if s.get("role") == "img"]
    for name in ("overall", "math", "logic", *(f"task{i}" for i in range(6))):
        assert f"pass@k of {name}" in titles
    assert "pass@1 of task0 by difficulty" in titles and "pass@16 of task3 by difficulty" in titles
    assert sum(str(t).startswith("gain of") for t in titles) == 2


def test_every_figure_is_well_formed_and_says_what_it_shows(data: ReportData) -> None:
    figures = [s for s in svgs(page(data)) if s.get("role") == "img"]
    assert len(figures) > 15
    assert all(s.findtext("title") and s.findtext("desc") for s in figures)


def test_every_cell_names_its_column_or_its_row_where_a_phone_stacks_them(data: ReportData) -> None:
    html = page(data)
    without = {*re.findall(r"<td(?![^>]*data-head)[^>]*>(?!</td>)", html)}
    assert without == {'<td class="metric">', '<td class="name">', '<td class="mark">'}
    assert all(html.count(f'data-head="{r.label}"') > 4 for r in data.results)


def test_nothing_is_fetched_and_no_script_is_there(data: ReportData) -> None:
    html = page(data)
    assert "default-src 'none'" in html
    assert not re.search(r"<script|<link|<img|url\(|@import|(src|href)=", html)


def test_series_differ_by_marker_and_not_by_colour_alone() -> None:
    assert len({marker(i, 0.0, 0.0) for i in range(6)}) == 6


def test_curves_lie_on_a_log2_scale_with_their_bands() -> None:
    points = {k: Interval(0.5, 0.25, 0.75, 9) for k in (1, 2, 4, 8)}
    svg = ElementTree.fromstring(curves_panel("x", [Line(0, "a", points)], 8))
    path = next(p.get("d", "") for p in svg.iter("path") if "line" in (p.get("class") or ""))
    xs = [float(p.split()[0]) for p in path[1:].split("L")]
    steps = [b - a for a, b in itertools.pairwise(xs)]
    assert max(steps) - min(steps) < 0.15
    kinds = [p.get("class") for p in svg.iter() if p.get("class")]
    assert "band s0" in kinds and "near" in kinds


def test_success_rates_are_counted_with_never_and_always_apart() -> None:
    rows = [problem(0, i, c) for i, c in enumerate((0, 0, 1, 16, 31, 32))]
    counts = rate_counts(rows)
    assert len(counts) == len(BINS)
    assert (counts[0], counts[1], counts[6], counts[10], counts[11]) == (2, 1, 1, 1, 1)


def test_hostile_names_stay_text_in_html_and_markdown(three: list[EvalResult]) -> None:
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
    html = page(found)
    assert "<script" not in html and "\u202e" not in html
    assert html.count("<details") == html.count("</details>") and len(svgs(html)) > 10
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


def test_the_markdown_holds_the_tables_of_the_page(data: ReportData) -> None:
    shown = markdown_report(data)
    for words in (
        "| claim |",
        "k = 16",
        "by luck",
        "If the verifier",
        "Jeffreys",
        "cut at token",
        "org/final",
    ):
        assert words in shown, words
    blocks = [b for b in shown.split("\n\n") if b.startswith("| ")]
    for block in blocks:
        assert len({re.sub(r"\\.", "", line).count("|") for line in block.splitlines()}) == 1


def test_the_json_has_every_number_and_no_nan(data: ReportData) -> None:
    value = json.loads(json.dumps(data.to_json(), allow_nan=False))
    assert value["baseline"] == "base" and [r["problems"] for r in value["results"]] == [72] * 3
    assert value["boundary"]["groups"][0]["claims"][1]["regime"] == "plateau"
    assert sum(value["success_rates"]["problems"]["overall"][0]) == 72
    assert len(value["posterior"]) == len(value["false_positives"]) == 3


def test_the_checkpoint_from_before_rl_is_the_baseline_of_every_part(
    three: list[EvalResult],
) -> None:
    warm = result(f"run step 0 {BEFORE_RL}", 0.2)
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
    html = page(found)
    assert "pass@k of task3" in html and "Did the boundary move" not in html


def test_many_tasks_are_folded_and_printing_opens_them() -> None:
    many = [result("base", 0.1, tasks=14), result("final", 0.6, tasks=14)]
    html = page(report_data(many, None, ReportOptions(BoundaryOptions(k=8))))
    assert "<details><summary>Claims by task (14)" in html
    assert "details::details-content" in html and "pass@8" in html


def test_gain_is_over_all_tasks_also_those_that_are_a_whole_benchmark() -> None:
    mixed = []
    for r in (result("base", 0.1), result("final", 0.6)):
        rows = []
        for p in r.problems:
            family = str(p.labels["family"])
            kept = {"benchmark": family} if family in ("task1", "task2") else {"family": family}
            rows.append(dataclasses.replace(p, labels=kept))
        mixed.append(dataclasses.replace(r, problems=tuple(rows)))
    report = report_data(mixed, None).boundary
    assert report is not None
    assert {p.group for p in report.gains[0].points} == {f"task{i}" for i in range(6)}


def test_ticks_are_round_and_inside() -> None:
    assert [v for v, _ in linear_ticks(0.0, 1.0, 4)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert [s for _, s in linear_ticks(1, 12, whole=True)] == ["3", "6", "9", "12"]
    assert linear_ticks(2.0, 2.0) == ((2.0, "2"),)
    assert Axis(1, 16, (), log=True).place(4) == pytest.approx(0.5)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", *arguments])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, three: list[EvalResult]) -> list[str]:
    root = tmp_path_factory.mktemp("saved")
    for r in three:
        (root / r.label).mkdir()
        r.save(root / r.label)
    return [str(root / r.label) for r in three]


def test_compare_writes_the_same_boundary_as_page_and_markdown(
    folders: list[str], tmp_path: Path
) -> None:
    html, shown = tmp_path / "r.html", tmp_path / "r.md"
    done = call(
        "compare", *folders, "--html", str(html), "--md", str(shown), "--margin", "0.1", "--json"
    )
    assert done.exit_code == 0, done.output
    reasons = [
        c["reason"] for g in json.loads(done.stdout)["boundary"]["groups"] for c in g["claims"]
    ]
    written, marked = html.read_text(), shown.read_text()
    assert all(escape(r) in written and md(r) in marked for r in reasons)
    assert "--margin 0.1 --html report.html" in written


def test_report_prints_the_file_or_every_number(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = call("report", *folders[:2], "--out", str(out), "--md", str(tmp_path / "p.md"))
    assert done.exit_code == 0 and done.stdout == f"{out}\n"
    assert (tmp_path / "p.md").read_text().startswith("# pass@1")
    done = call("report", *folders, "--out", str(out), "--json", "--k", "8")
    assert done.exit_code == 0 and json.loads(done.stdout)["boundary"]["k"] == 8
