from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from prorl_common import MissingExtraError, NullProgress, UnknownNameError, UserError
from prorl_evaluation import EvalSettings, EvaluationError
from prorl_evaluation.config import SamplingSection
from prorl_evaluation.metrics import pass_at_k
from prorl_evaluation.sampling.command import PROTOCOLS, Protocol, merge, pick_protocol
from prorl_evaluation.stats.fixed_set import fixed_change, fixed_interval, sampling_variance
from prorl_evaluation.suites.published import category_rows, published, rows_for
from prorl_evaluation.suites.sources import Selection, gather_benchmarks
from prorl_evaluation.suites.suite import CATEGORY_OF, load_suite, parse_suite, suite_names
from prorl_inference import pick_backend

OWN = """
name: mine
title: My suite
sampling: {n: 2, max_tokens: 8}
benchmarks:
  - rg_acre
  - {name: sums, domain: math, families: [add], count: 3}
"""


def mistake(content: str) -> str:
    with pytest.raises(EvaluationError) as error:
        parse_suite(content, "my.yaml", Path())
    assert "\n" not in str(error.value)
    return str(error.value)


def test_every_packaged_suite_reads_and_its_tables_show_every_benchmark_once() -> None:
    assert suite_names() == ["ood", "prorl", "quickstart"]
    for name in suite_names():
        suite = load_suite(name)
        shown = [b for t in suite.tables for b in t.names if t.by != "category"]
        assert sorted(shown) == sorted(suite.sources), name


def test_quickstart_and_ood_need_no_download() -> None:
    for name in ("quickstart", "ood"):
        for source in load_suite(name).sources.values():
            assert getattr(source, "hub", None) is None


def test_every_ladder_of_ood_grows_and_has_a_table_by_rung() -> None:
    suite = load_suite("ood")
    ladders = {n: s for n, s in suite.sources.items() if n.startswith("ladder_")}
    by_rung = {t.benchmark for t in suite.tables if t.by == "rung"}
    assert len(ladders) == 5 and by_rung == set(ladders)
    for source in ladders.values():
        made = getattr(source, "generated", None)
        assert made is not None and made.rungs == sorted(made.rungs) and len(made.rungs) >= 5


def test_a_suite_of_ones_own_reads_from_its_path_and_shows_one_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN)
    suite = load_suite(str(file))
    assert suite.base == tmp_path
    (table,) = suite.shown_tables(["sums"])
    assert [c.benchmark for c in table.columns] == ["sums"]
    assert suite.metric("sums") == "mean_of_n" and suite.metric("rg_acre") == "mean_reward"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("rg_acre", "rg_acr"), "unknown benchmark 'rg_acr' (did you mean 'rg_acre'?)"),
        (("name: sums", "name: rg_acre"), "named twice: rg_acre"),
        (("families: [add]", "families: []"), "families"),
        (("title: My suite", "titel: My suite"), "unknown key 'titel' (did you mean 'title'?)"),
        (("n: 2", "m: 2"), "unknown key 'm'"),
        (("count: 3", "count: 3, cuont: 4"), "unknown key 'cuont' (did you mean 'count'?)"),
    ],
)
def test_a_mistake_in_a_suite_is_one_line_with_the_nearest_name(
    change: tuple[str, str], said: str
) -> None:
    assert said in mistake(OWN.replace(*change))


def test_a_table_of_a_benchmark_that_is_not_in_the_suite_is_a_mistake() -> None:
    table = "tables: [{title: T, columns: [{benchmark: summs, head: S}]}]\n"
    assert "names 'summs' (did you mean 'sums'?)" in mistake(OWN + table)
    assert "either columns" in mistake(OWN + "tables: [{title: T}]\n")


def test_an_unknown_key_is_held_against_the_keys_of_the_part_that_it_stands_in() -> None:
    table = "tables: [{title: T, columns: [{benchmark: sums, haed: S}]}]\n"
    assert "'haed' (did you mean 'head'?)" in mistake(OWN + table)
    split = OWN.replace("  - rg_acre\n", "  - {name: mine, dataset: d.parquet, splt: test}\n")
    assert "'splt' (did you mean 'split'?)" in mistake(split)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ('"{question}\\nPut the answer in \\\\boxed{}."', "Q\nPut the answer in \\boxed{}."),
        ('"{question} in \\\\boxed{{}}"', "Q in \\boxed{}"),  # the syntax of other definitions
        ('"\\\\frac{a}{\\\\sqrt{b}} {question} {x} {0}"', "\\frac{a}{\\sqrt{b}} Q {x} {0}"),
    ],
)
def test_a_prompt_may_hold_braces_and_the_question_stands_where_it_is_named(
    written: str, asked: str
) -> None:
    content = OWN.replace("  - rg_acre\n", "").replace("count: 3", f"count: 3, prompt: {written}")
    found = gather_benchmarks(parse_suite(content, "m", Path()), Selection(), NullProgress())
    assert not found.failures
    sample = found.ready[0].samples[0]
    assert sample.prompt[0]["content"] == asked.replace("Q", str(sample.metadata["question"]))


@pytest.mark.parametrize("prompt", ['"Answer in one word."', '""'])
def test_a_prompt_without_a_place_for_the_question_is_a_mistake(prompt: str) -> None:
    said = mistake(OWN.replace("count: 3", f"count: 3, prompt: {prompt}"))
    assert "sums: the prompt must contain {question}" in said


def test_an_unknown_suite_names_those_there_are() -> None:
    with pytest.raises(EvaluationError, match=r"did you mean 'prorl'\?.*known: ood, prorl"):
        load_suite("prorll")


def test_reasoning_gyms_own_filing_is_the_categories_table() -> None:
    from reasoning_gym.factory import DATASETS

    theirs = {task: made.__module__.split(".")[1] for task, (made, _) in DATASETS.items()}
    assert {t: c for t, c in theirs.items() if t != "composite"} == CATEGORY_OF


def test_the_cards_averages_are_those_of_its_own_numbers() -> None:
    tables = {t.title: t.names for t in load_suite("prorl").tables if t.average}
    for row in published().rows:
        for title, printed in row.averages.items():
            values = [row.values[name] for name in tables[title] if name in row.values]
            if len(values) == len(tables[title]):
                assert sum(values) / len(values) == pytest.approx(printed, abs=0.011), row.label


def test_a_row_never_mixes_origins_and_v2_stands_once_for_each_that_measured_it() -> None:
    rows = rows_for({"AIME24": "aime_2024", "APPS": "prime_apps"}, "Math", "all")
    v2 = {r.origin: r.cells for r in rows if "v2" in r.label}
    assert v2 == {"card": (49.58, 46.39), "brorl": (None, 58.52), "justrl": (51.87, None)}
    assert {r.origin for r in rows_for({"A": "aime_2024"}, "Math", "core")} == {"card"}
    assert rows_for({"A": "aime_2024"}, "Math", "none") == []


def test_a_number_of_another_set_is_not_shown_and_an_assumed_one_is_marked() -> None:
    rows = rows_for({"AMC": "amc", "MATH": "math_500"}, "Math", "all")
    other = next(r for r in rows if r.origin == "justrl")
    assert other.cells == (None, 92.0) and "88.75" in other.marks["AMC"]
    card = next(r for r in rows if r.origin == "card")
    assert card.assumed == (False, True) and "MATH-500" in card.marks["MATH"]


def test_categories_have_the_papers_numbers() -> None:
    base, v1 = category_rows(["algebra", "logic"], "core")
    assert (base.cells, v1.cells) == ((0.73, 10.9), (97.21, 82.94))


def test_an_origin_says_what_of_my_sampling_is_another() -> None:
    card = published().origins["card"]
    assert card.differences(EvalSettings(16, 1, 0.6, 0.95, 32768)) == []
    assert card.differences(EvalSettings(4, 1, 0.6, 0.95, 512)) == [
        "n 4 where they had 16",
        "max_tokens 512 where they had 32768",
    ]


# Protocol presets, what overrides them, and the backend that samples


def test_the_presets_are_the_published_ones() -> None:
    rows = {p.name: (p.n, p.temperature, p.top_p, p.max_tokens) for p in PROTOCOLS.values()}
    assert rows == {
        "prorl": (16, 0.6, 0.95, 32_768),
        "boundary": (256, 0.6, 0.95, 32_768),
        "justrl": (32, 0.7, 0.9, 32_768),
    }
    for p in PROTOCOLS.values():
        assert not EvalSettings(p.n, p.k).near_any_success


def test_what_is_asked_for_comes_before_the_protocol_and_that_before_the_defaults() -> None:
    prorl = pick_protocol("prorl")
    assert merge(SamplingSection(temperature=0.0, n=4), prorl) == Protocol(
        "prorl", 4, 1, 0.0, 0.95, 32_768
    )
    assert merge(SamplingSection(), None) == Protocol("", 256, 128, 0.6, 0.95, 512)
    assert merge(SamplingSection(k=8), None, 77) == Protocol("", 16, 8, 0.6, 0.95, 77)
    assert merge(SamplingSection(max_tokens=9), prorl, 77).max_tokens == 9
    assert merge(SamplingSection(n=64), pick_protocol("boundary")).k == 64


def test_an_unknown_protocol_names_the_nearest_and_all() -> None:
    with pytest.raises(EvaluationError, match=r"did you mean 'prorl'.*prorl, boundary, justrl"):
        pick_protocol("prolr")
    assert pick_protocol(None) is None


def test_the_backend_is_the_server_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick_backend("auto", "cpu", "http://x").name == "server"
    assert pick_backend("transformers", "cpu", None).name == "transformers"
    with pytest.raises(UserError, match="must be set together"):
        pick_backend("server", "cpu", None)
    with pytest.raises(UserError, match="must be set together"):
        pick_backend("vllm", "cpu", "http://x")
    with pytest.raises(UnknownNameError, match="did you mean 'vllm'"):
        pick_backend("vlm", "cpu", None)


def test_auto_takes_vllm_only_where_it_is_installed_and_the_model_is_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed: list[object] = []
    monkeypatch.setattr(
        "prorl_inference.spec.importlib.util.find_spec",
        lambda name: installed[0] if installed else None,
    )
    assert pick_backend("auto", "cuda", None).name == "transformers"
    with pytest.raises(MissingExtraError):
        pick_backend("vllm", "cpu", None).check_installed()
    installed.append(object())
    assert pick_backend("auto", "cpu", None).name == "transformers"
    monkeypatch.setattr("prorl_inference.spec.pick_device", lambda device: "cuda:0")
    assert pick_backend("auto", "auto", None).name == "vllm"


# Intervals for exactly these problems, against enumeration, scipy and simulation


@dataclass(frozen=True)
class Count:
    n: int
    c: int


@pytest.mark.parametrize(("n", "k"), [(2, 1), (6, 1), (6, 2), (6, 3), (16, 8), (16, 3)])
@pytest.mark.parametrize("p", [0.03, 0.4, 0.9])
def test_the_variance_is_estimated_without_bias(n: int, k: int, p: float) -> None:
    chance = stats.binom.pmf(range(n + 1), n, p)
    value = np.array([pass_at_k(n, c, k) for c in range(n + 1)])
    true = chance @ value**2 - (chance @ value) ** 2
    assert chance @ [sampling_variance(n, c, k) for c in range(n + 1)] == pytest.approx(true)


def test_at_k_1_the_variance_is_that_of_a_mean() -> None:
    answers = np.array([1.0] * 5 + [0.0] * 11)
    assert sampling_variance(16, 5, 1) == pytest.approx(answers.var(ddof=1) / 16)
    assert math.isnan(sampling_variance(16, 5, 9))


def test_one_answer_a_problem_gives_about_jeffreys_interval() -> None:
    found = fixed_interval([Count(1, int(i < 30)) for i in range(100)], 1)
    low, high = stats.beta(30.5, 70.5).ppf([0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


def test_no_success_at_all_is_jeffreys_interval_of_all_answers() -> None:
    found = fixed_interval([Count(16, 0)] * 30, 1)
    assert found.value == found.low == 0.0
    assert found.high == pytest.approx(stats.beta(0.5, 480.5).ppf(0.975), rel=0.02)


def test_sampling_again_is_less_than_taking_other_problems() -> None:
    problems = [Count(16, c) for c in (0, 16) * 15]
    found = fixed_interval(problems, 1)
    assert found.value == 0.5 and 0.0 < found.high - found.low < 0.02


@pytest.mark.parametrize(("n", "k"), [(4, 1), (16, 8)])
def test_the_intervals_hold_what_these_problems_would_show(n: int, k: int) -> None:
    rng = np.random.default_rng(4)
    held = np.zeros(2)
    for _ in range(400):
        p, q = rng.beta(0.3, 1.2, (2, 30))
        a, b = ([Count(n, int(c)) for c in rng.binomial(n, r)] for r in (p, q))
        truth = [float(np.mean(1 - (1 - r) ** k)) for r in (p, q)]
        level, change = fixed_interval(a, k), fixed_change(list(zip(a, b, strict=True)), k)
        held += [
            level.low <= truth[0] <= level.high,
            change.low <= truth[1] - truth[0] <= change.high,
        ]
    assert (held / 400 >= 0.92).all() and (held / 400 <= 0.985).all()


def test_the_change_is_symmetric_and_adds_both_sides() -> None:
    pairs = [(Count(16, c), Count(16, 16 - c)) for c in (2, 5, 9, 12)] * 10
    there = fixed_change(pairs, 4)
    back = fixed_change([(b, a) for a, b in pairs], 4)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_problems_with_too_few_answers_are_undefined() -> None:
    found = fixed_interval([Count(4, 2), Count(0, 0), Count(2, 1)], 4)
    assert (found.count, found.undefined) == (1, 2)
    assert math.isnan(fixed_interval([Count(0, 0)], 1).value)
    assert fixed_change([(Count(0, 0), Count(4, 1))], 1).undefined == 1
