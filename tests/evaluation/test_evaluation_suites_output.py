"""What a suite leaves behind and says: file names, Markdown, and what each benchmark cost a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, Progress
from prorl_evaluation import EvalSettings
from prorl_evaluation.sampling.choose import Target
from prorl_evaluation.sampling.session import Session
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.suites import (
    Failure,
    Gathered,
    Ready,
    SuiteResult,
    markdown,
    run_suite,
    save_suite,
    suite_tables,
)
from prorl_evaluation.suites.suite import parse_suite
from prorl_evaluation.suites.tables import percent
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import Completion, Generator, Request, SamplingParams, Usage

OWN = """
name: mine
title: Mine
benchmarks:
  - {name: sums, domain: math, families: [add], count: 2}
  - {name: facts, domain: stem, families: [density], count: 2}
"""


@dataclass(frozen=True, slots=True)
class OneModel(Session):
    """A session whose one model is a fake."""

    generator: FakeGenerator = field(default_factory=FakeGenerator)

    def open(self, target: Target, progress: Progress) -> Generator:
        return self.generator


class Metered(FakeGenerator):
    """Counts its answers as a server's generator does: 10 tokens in, 5 out, at 1 and 2 a million."""

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


class Kept(NullProgress):
    """Keeps the messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)


def session(tmp_path: Path, label: str = "base", **named: Any) -> OneModel:
    settings = EvalSettings(2, 1, max_tokens=8, draws=100)
    return OneModel([Target(label, "base", "base")], None, (), settings, out=tmp_path, **named)


def gathered() -> Gathered:
    return Gathered([Ready("sums", make_samples(4), "a"), Ready("facts", make_samples(2), "b")])


def run(where: OneModel, progress: Progress | None = None) -> SuiteResult:
    suite = parse_suite(OWN, "mine", Path())
    return run_suite(suite, gathered(), where, FakeScorer(), progress or NullProgress())


def test_what_each_benchmark_asked_of_a_server_is_said_by_itself(tmp_path: Path) -> None:
    progress = Kept()
    run(session(tmp_path, generator=Metered()), progress)
    said = [line for line in progress.lines if line.startswith("server: ")]
    assert said == [
        "server: 8 answers, 80 tokens in, 40 out, 1 retries, cost 0.00016",
        "server: 4 answers, 40 tokens in, 20 out, 1 retries, cost 8e-05",
    ]


def test_a_benchmark_that_asked_a_server_for_nothing_says_nothing(tmp_path: Path) -> None:
    generator = Metered()
    run(session(tmp_path, generator=generator))
    progress = Kept()
    run(session(tmp_path, generator=generator), progress)
    assert not [line for line in progress.lines if line.startswith("server: ")]


def test_limits_backends_and_request_fields_have_files_of_their_own(tmp_path: Path) -> None:
    whole = run(session(tmp_path))
    first, second = (run(session(tmp_path, limit=limit)) for limit in (1, 2))
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
    assert save_suite(run(session(tmp_path)), tmp_path).name == "suite-mine-9464f990.md"


@pytest.mark.parametrize("label", ["<img src=x onerror=a()>", "[free](http://x)", "a|b", "*b*"])
def test_nothing_a_name_or_a_reason_holds_is_markup_in_the_markdown(
    tmp_path: Path, label: str
) -> None:
    result = run(session(tmp_path, label))
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
    page = markdown(suite_tables(run(session(tmp_path))))
    row = next(line for line in page.splitlines() if line.startswith("| base |"))
    assert "\\" not in row and row.count("|") == 4
