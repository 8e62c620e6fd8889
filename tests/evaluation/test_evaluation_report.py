"""The report: escaping, honesty of the headline, light and dark, absent parts."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from prorl_common import MissingExtraError, NullProgress
from prorl_datasets import Sample
from prorl_evaluation import (
    EvalResult,
    EvalSettings,
    EvaluationError,
    Example,
    compare,
    evaluate,
    write_report,
)
from prorl_evaluation.metrics.summary import group_results
from prorl_evaluation.report import html
from prorl_evaluation.report.data import read_rows, report_data
from prorl_evaluation.report.html import style_sheet
from prorl_evaluation.report.markdown import markdown_report
from prorl_evaluation.report.training import penalty_windows, reset_steps, thin
from prorl_evaluation.report.words import caveats, commands, headline
from prorl_evaluation.tables import result_table
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

EVIL = (
    "<script>alert('x')</script>\" onload=\"$\\frac$ \ud800 \x00 </style></svg>]]> "
    "\u202egnp.exe\u202c | `x` [a](javascript:alert(1)) ![b](http://e.example/c.png)"
)
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


class Outline(HTMLParser):
    """Collects tags and checks that they close in order."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def test_the_report_is_whole_light_dark_and_printable(
    tmp_path: Path, pair: list[EvalResult], run_dir: Path
) -> None:
    page = write_report(pair, run_dir, tmp_path / "report.html").read_text()
    found = outline(page)
    assert "prefers-color-scheme: dark" in page and "@media print" in page
    assert "color-scheme: light dark" in page
    assert found.tags.count("figure") == 3 + 3 + 1 + 3
    assert "script" not in found.tags and "link" not in found.tags and "img" not in found.tags
    assert all(not name.startswith("on") for name, _ in found.attributes)
    assert not re.search(r"(src|href)=[\"']https?:", page)
    for words in ("the base", "the policy", "Training", "reference reset", "temperature"):
        assert words in page
    assert "higher" in page and "pass@8" in page


def test_colours_follow_the_page(tmp_path: Path, pair: list[EvalResult]) -> None:
    page = write_report(pair, None, tmp_path / "r.html").read_text()
    body = page[page.index("<body>") :]
    assert "class='line s1 '" in body and "#" not in re.sub(r"&#x?[0-9a-f]+;", "", body)


def test_text_of_models_and_users_is_escaped(tmp_path: Path, pair: list[EvalResult]) -> None:
    example = Example("id " + EVIL, "math", EVIL, EVIL, 0.0, "scored", EVIL)
    evil = [
        dataclasses.replace(
            r,
            model_id=EVIL,
            settings=dataclasses.replace(r.settings, label=EVIL, dataset={"path": EVIL}),
            examples=(example,),
            isolation=(EVIL,),
            groups=tuple(dataclasses.replace(g, name=g.name + EVIL) for g in r.groups),
        )
        for r in pair
    ]
    evil = [
        dataclasses.replace(r, groups=(p.groups[0], *r.groups[1:]))
        for r, p in zip(evil, pair, strict=True)
    ]
    page = write_report(evil, None, tmp_path / "r.html").read_text()
    found = outline(page)
    assert "script" not in found.tags
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "\u202e" not in page and "[U+202E]gnp.exe" in page
    assert all(not name.startswith("on") for name, _ in found.attributes)


def test_a_gain_is_stated_with_its_interval(pair: list[EvalResult]) -> None:
    lines = headline(pair, compare(*pair))
    number = r"[+−]0\.\d{3}"
    assert re.fullmatch(
        rf"pass@1 0\.\d{{3}} → 0\.\d{{3}}, difference {number} \[{number}, {number}\]", lines[0]
    )


def test_a_difference_that_may_be_nothing_is_called_that(
    tmp_path: Path, pair: list[EvalResult]
) -> None:
    lines = headline([pair[0], pair[0]], compare(pair[0], pair[0]))
    assert all("not distinguishable" in line for line in lines)
    few = [result(tmp_path / f"few{p}", p, make_samples(4)) for p in (0, 100)]
    assert "only 4 problems: too few to say" in headline(few, compare(*few))[0]


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
        "say little about others",
        "n differs: 16 against 8",
    ):
        assert words in found, words


def test_a_single_result_without_a_run_makes_a_report(
    tmp_path: Path, pair: list[EvalResult]
) -> None:
    page = write_report(pair[:1], None, tmp_path / "r.html").read_text()
    found = outline(page)
    assert found.tags.count("figure") == 6 and "Training" not in page


def test_a_result_of_nothing_but_infra_errors_makes_a_report(tmp_path: Path) -> None:
    empty = evaluate(
        FakeGenerator(), make_samples(2), SETTINGS, tmp_path, FakeScorer(broken=""), NullProgress()
    )
    assert "nan" not in write_report([empty], None, tmp_path / "r.html").read_text().lower()


def test_a_report_with_nothing_solved_says_so_once_and_draws_nothing(tmp_path: Path) -> None:
    samples = [*make_samples(13), *make_samples(12, "logic")]
    none = [result(tmp_path / name, 0, samples, name) for name in ("base", "policy")]
    data = report_data(none, None)
    page, text = html.page(data), markdown_report(data)
    for written in (page, text):
        assert "Nothing solved: none of 800 answers earned anything" in written
        assert "Results by domain" not in written and "boundary move" not in written
        assert "Truncation, extraction" in written and "Examples" in written
        assert "too few problems" not in written and "not distinguishable" not in written
    assert page.count("<figure") == 0


def test_absent_keys_and_journals_leave_their_part_out(
    tmp_path: Path, pair: list[EvalResult]
) -> None:
    run = tmp_path / "bare"
    run.mkdir()
    assert "Training" not in write_report(pair, run, tmp_path / "r.html").read_text()
    (run / "metrics.jsonl").write_text(
        '{"step": 1, "kl": null}\n{"step": 2, "kl": 0.5}\n{"x": 1}\n'
    )
    page = write_report(pair, run, tmp_path / "r.html").read_text()
    assert "KL to the reference" in page and "Entropy" not in page


def test_a_damaged_metrics_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\nbroken\n')
    with pytest.raises(EvaluationError, match=r"metrics\.jsonl:2"):
        read_rows(path)


def test_windows_and_resets_come_from_the_decisions() -> None:
    metrics: list[dict[str, Any]] = [{"step": i, "length_penalty_active": i > 7} for i in range(10)]
    decisions = [
        {"step": 2, "kind": "penalty_window_opened"},
        {"step": 5, "kind": "penalty_window_closed"},
        {"step": 6, "kind": "reference_reset"},
        {"step": 8, "kind": "penalty_window_opened"},
    ]
    assert penalty_windows(metrics, decisions) == [(2.0, 4.0), (8.0, 9.0)]
    assert penalty_windows(metrics, []) == [(8.0, 9.0)]
    assert reset_steps(decisions) == [6.0]


def test_long_series_are_thinned_to_means() -> None:
    points = thin([(float(i), 1.0 if i < 500 else 3.0) for i in range(1000)])
    assert len(points) == 334 and points[0] == (1.0, 1.0) and points[-1][1] == 3.0
    assert thin([(1.0, 2.0)]) == [(1.0, 2.0)]
    assert thin([]) == []


def test_every_result_has_a_colour_of_its_own_on_light_and_on_dark_paper() -> None:
    sheet = style_sheet(9)
    colours = re.findall(r"--series\d: (#[0-9a-f]{6})", sheet)
    light, dark, printed = colours[:9], colours[9:18], colours[18:]
    assert len({*light}) == len({*dark}) == 9 and printed == light
    assert all(f".s{i} {{ color: var(--series{i})" in sheet for i in range(9))


def test_every_variable_of_the_style_sheet_is_defined() -> None:
    sheet = style_sheet(1)
    used, defined = (set(re.findall(p, sheet)) for p in (r"var\(--([\w-]+)\)", r"--([\w-]+):"))
    assert used <= defined


def test_without_jinja_the_pip_line_is_printed(
    tmp_path: Path, pair: list[EvalResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html._environment.cache_clear()
    with pytest.raises(MissingExtraError, match=r"jinja2.*prorl\[report\]"):
        write_report(pair[:1], None, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_no_result_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="at least one result"):
        write_report([], None, tmp_path / "r.html")


def test_the_commands_that_make_it_again_name_limit_and_server(pair: list[EvalResult]) -> None:
    origin = {"path": "data/x", "split": "test", "limit": "25"}
    limited = dataclasses.replace(pair[0].settings, dataset=origin)
    served = dataclasses.replace(limited, backend="server:chat")
    first = dataclasses.replace(pair[0], settings=limited)
    second = dataclasses.replace(pair[1], settings=served)
    here, there, *_ = commands(report_data([first, second], None))
    assert "--model m15 --dataset data/x --split test --limit 25 --k 8" in here
    assert "--server-model m60 --server-api chat" in there and "--server URL" in there
    folder = dataclasses.replace(pair[0].settings, dataset={"path": "quickstart"})
    named, *_ = commands(report_data([dataclasses.replace(pair[0], settings=folder)], None))
    assert named.startswith("prorl eval pass-at-k") and "--dataset quickstart" in named
    assert "--model" not in there.replace("--server-model", "")
    plugged = dataclasses.replace(pair[0].settings, backend="lab")
    outside, *_ = commands(report_data([dataclasses.replace(pair[0], settings=plugged)], None))
    assert outside.endswith("--backend lab") and "--backend" not in here + there


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
