from __future__ import annotations

import pytest

from prorl_datasets import BENCHMARKS, load_recipe
from prorl_datasets.benchmarks import benchmark_names, benchmark_seeds, load_spec
from prorl_datasets.benchmarks.catalogue import parse_spec
from prorl_datasets.sources.reasoning_gym import ReasoningGymSource
from prorl_datasets.types import DatasetError

EXPECTED = {
    "aime_2024": 30,
    "aime_2025": 30,
    "amc": 83,
    "math_500": 500,
    "minerva": 272,
    "olympiadbench": 674,
    "humaneval_plus": 164,
    "prime_apps": None,
    "prime_codecontests": None,
    "prime_codeforces": None,
    "prime_taco": None,
    "livecodebench": 279,
    "gpqa_diamond": 198,
    "ifeval": 541,
    "reasoning_gym": 9600,
    "rg_acre": 100,
    "rg_boxnet": 100,
    "rg_game_of_life_halting": 100,
    "rg_graph_color": 1600,
}
SPEC = """
name: mine
title: Mine
domain: math
verifier: math
metric: mean_of_n
licence: MIT
expected_rows: 3
adapter: math
prompt: "{question}"
hub: {repo: a/b, files: [x.jsonl]}
columns: {question: [q]}
"""


def test_every_benchmark_of_the_suite_has_a_specification_of_the_published_size() -> None:
    ours = [name for name in benchmark_names() if BENCHMARKS.find(name)[1].is_ours]
    assert {name: load_spec(name).expected_rows for name in ours} == EXPECTED


def test_math_code_and_stem_count_binary_outcomes_and_the_rest_mean_rewards() -> None:
    for name in benchmark_names():
        spec = load_spec(name)
        binary = spec.domain in ("math", "code", "stem")
        assert spec.metric == ("mean_of_n" if binary else "mean_reward")
        assert spec.domain != "code" or spec.reference["mode"] == "binary"


def test_the_reasoning_gym_benchmark_has_the_tasks_and_sizes_of_the_recipe() -> None:
    made = load_spec("reasoning_gym").generated
    assert made is not None
    sources = [
        e.source
        for e in load_recipe("prorl-136k-procedural").entries
        if e.domain == "logic" and isinstance(e.source, ReasoningGymSource)
    ]
    assert sorted(made.tasks) == sorted({s.task for s in sources})
    assert made.configs == {s.task: s.config for s in sources if s.config}
    assert len(made.tasks) * made.count == 9600


def test_held_out_tasks_are_not_among_the_96() -> None:
    made = load_spec("reasoning_gym").generated
    assert made is not None
    held_out = {"acre", "boxnet", "game_of_life_halting", "puzzle24"}
    assert not held_out & set(made.tasks)


def test_seeds_of_a_generated_benchmark_are_pinned_and_differ_between_tasks_and_rungs() -> None:
    assert benchmark_seeds("rg_acre", "acre")[:2] == ACRE_SEEDS
    rungs = [benchmark_seeds("rg_graph_color", "graph_color", n) for n in (5, 6, 20)]
    assert len({seed for seeds in rungs for seed in seeds}) == 300
    assert benchmark_seeds("aime_2024", "acre") == []


ACRE_SEEDS = [3426021063, 2519087943]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        DatasetError, match=r"unknown benchmark 'aime2024' \(did you mean 'aime_2024'"
    ):
        load_spec("aime2024")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("metric: mean_of_n", "metrik: mean_of_n", "unknown key 'metrik'.*did you mean 'metric'"),
        ("{repo: a/b,", "{repo: a/b, revison: x,", "unknown key 'revison' in hub .*'revision'"),
        ("expected_rows: 3", "expected_rows: 0", "expected_rows: must be at least 1"),
        ("{question}", "{quest}", r"prompt must contain \{question\}"),
        ("hub: {repo: a/b, files: [x.jsonl]}", "", "exactly one of the keys 'hub' and 'generated'"),
        (
            "columns: {question: [q]}",
            "optional: [answer]",
            "a benchmark with hub files needs columns or an adapter",
        ),
        ("adapter: math", "adapter: meth", "adapter: unknown adapter 'meth'.*did you mean 'math'"),
        ("name: mine", "[", "not valid YAML"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(old: str, new: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        parse_spec(SPEC.replace(old, new), "mine.yaml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("{question: [q], answer: [a], anwser: [b]}", "'anwser' is not a field.*'answer'"),
        ("{question: [q]}", r"'columns' lacks answer: add it, or name an adapter"),
    ],
)
def test_columns_without_an_adapter_are_the_fields_of_the_verifier(
    columns: str, message: str
) -> None:
    text = SPEC.replace("adapter: math\n", "")
    with pytest.raises(DatasetError, match=message):
        parse_spec(text.replace("{question: [q]}", columns), "mine.yaml")


def test_the_specification_above_is_right_without_the_mistakes() -> None:
    assert parse_spec(SPEC, "mine.yaml").hub is not None
