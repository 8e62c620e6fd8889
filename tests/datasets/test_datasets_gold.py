from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from prorl_common import NullProgress, read_jsonl
from prorl_datasets import BuildOptions, Recipe, build, load, verify_dataset
from prorl_datasets.building.gold import check_gold
from prorl_datasets.procedural import families
from prorl_datasets.sources.columns import no_answer
from prorl_sandbox import probe
from prorl_verifiers import Task, VerifierPool

needs_isolation = pytest.mark.skipif(
    not probe().strong, reason="this machine cannot isolate untrusted code"
)


Golds = list[tuple[str, str, Task]]


def _gold_items(domains: tuple[str, ...], levels: tuple[int, ...] = (), seed: int = 5) -> Golds:
    """Return one gold item per family and level; without ``levels``, the levels take turns."""
    found = []
    chosen = [family for family in families().values() if family.domain in domains]
    for at, family in enumerate(chosen):
        for level in levels or (at % 3 + 1,):
            item = family.generate(Random(1000 * level + seed), level)
            found.append((f"{family.name} level {level}", item.gold, item.task))
    return found


def _refused(items: Golds) -> list[tuple[str, str]]:
    with VerifierPool(workers=1) as pool:
        results = check_gold(pool, [(gold, task) for _, gold, task in items])
    return [
        (name, result.detail)
        for (name, _, _), result in zip(items, results, strict=True)
        if not result.accepted
    ]


def test_gold_of_every_text_family_is_accepted() -> None:
    assert _refused(_gold_items(("math", "stem", "instruction"))) == []


@pytest.mark.slow
def test_gold_of_every_text_family_and_level_is_accepted() -> None:
    texts = ("math", "stem", "instruction")
    assert (
        _refused([gold for seed in range(4) for gold in _gold_items(texts, (1, 2, 3), seed)]) == []
    )


@pytest.mark.slow
@needs_isolation
def test_gold_of_every_code_family_is_accepted() -> None:
    assert _refused(_gold_items(("code",))) == []


def test_another_items_gold_is_refused() -> None:
    with VerifierPool(workers=1) as pool:
        for name in ("add", "speed", "quotation"):
            family = families()[name]
            item = family.generate(Random(1), 1)
            (result,) = check_gold(pool, [("\\boxed{123456}", item.task)])
            assert not result.accepted
            assert result.reason


THREE = """
name: x
decontamination: {benchmarks: []}
entries:
  - {name: a, domain: math, source: {kind: procedural, family: add}, count: {train: 20}}
  - {name: b, domain: stem, source: {kind: procedural, family: planet}, count: {train: 20}}
  - {name: c, domain: logic, source: {kind: reasoning_gym, task: gcd}, count: {train: 8}}
"""


def test_a_gold_that_agrees_with_itself_alone_is_not_called_verified_and_checks_out(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    options = BuildOptions(workers=1)
    build(make_recipe(THREE), tmp_path / "d", progress=NullProgress(), options=options)
    assert {s.gold_check for s in load(tmp_path / "d")} == {"self-consistent"}
    assert verify_dataset(tmp_path / "d", progress=NullProgress()).ok


@needs_isolation
def test_isolation_level_of_the_gold_check_is_in_the_manifest(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        "  - {name: a, domain: code, source: {kind: procedural, family: add_two},"
        " count: {train: 2}}\n"
    )
    report = build(recipe, tmp_path / "d", progress=NullProgress())
    assert report.manifest["isolation"]
    assert report.manifest["gold_check"] == {"verified": 2}
    said = {s.metadata["verified_by"] for s in load(tmp_path / "d")}
    assert said == {"two programs: one computed the tests, the other passed them"}


def test_types_of_golds_are_counted_and_untyped_ones_listed(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    golds = ["17", "x=5", "[0,1)", "a gold ]] no grader reads"]
    rows = [{"prompt": f"Problem {at}?", "answer": gold} for at, gold in enumerate(golds)]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        f"  - {{name: a, domain: math, source: {{kind: file, path: {data}}}, count: {{train: all}}}}\n"
    )
    manifest = build(recipe, tmp_path / "d", progress=NullProgress()).manifest
    assert manifest["gold_types"] == {"number": 1, "assignment": 1, "interval": 1, "untyped": 1}
    assert [row["gold"] for row in manifest["untyped_golds"]] == [golds[-1]]


def test_real_math_and_instruction_rows_become_tasks(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, test_data: Path
) -> None:
    plain = [  # language detection is an optional dependency
        json.dumps(row)
        for _, row in read_jsonl(test_data / "if" / "ifeval_input_data.jsonl.gz")
        if not any(i.startswith("language:") for i in row["instruction_id_list"])
    ]
    (tmp_path / "ifeval.jsonl").write_text("\n".join(plain))
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        "  - {name: math500, domain: math, source: {kind: file, columns: {prompt: problem},\n"
        f"     path: {test_data}/math/math500.jsonl.gz}}, count: {{test: 60}}}}\n"
        "  - {name: ifeval, domain: instruction, source: {kind: file, path: ifeval.jsonl},\n"
        "     count: {train: all}}\n"
    )
    report = build(recipe, tmp_path / "d", progress=NullProgress())
    samples = load(tmp_path / "d")
    assert {s.gold_check for s in samples if s.domain == "math"} == {"self-consistent"}
    assert {s.gold_check for s in samples if s.domain == "instruction"} == {"none"}
    assert report.manifest["counts"]["test"] == {"math": 60}
    assert report.manifest["counts"]["train"]["instruction"] > 450


REAL = [
    "7", "-1/2", r"\frac{1}{2}", "x = 3", "[1, 2)", r"\text{no solution}", "undefined", r"\infty", "Na", "NaCl", "A",
    "yes", "0", "3 or 4", r"\text{Los Angeles}", "the mitochondrial membrane", "$x^2 + 1$", r"\begin{pmatrix} a & b \end{pmatrix}",
    "December 25, 1642", "12 square feet", r"\left(\frac{1}{2}, \infty\right)", "50 figures", "increasing", "(1,2)", "1,2,3",
    r"a_n = a_{n-1} + 2^{n} \text{ for all } n \geq 1", "See", "above", "Nan Goldin",
]  # fmt: skip


@pytest.mark.parametrize("gold", REAL)
def test_real_golds_pass(gold: str) -> None:
    assert no_answer(gold) is None


@pytest.mark.parametrize(
    ("gold", "rule"),
    [
        ("", "empty"), ("  \n", "empty"), ("nan", "null word"), ("NaN", "null word"), ("null", "null word"),
        ("None", "null word"), ("N/A", "null word"), ("$\\ $", None), ("No answer found.", "null word"),
        ("See the proof above.", "points elsewhere"), ("see solution", "points elsewhere"),
        ("Refer to the attached figure for the answer", "points elsewhere"), ("As shown above.", "points elsewhere"),
        ("The proof is left to the reader", "points elsewhere"), ("Please see the explanation below", "points elsewhere"),
    ],
)  # fmt: skip
def test_what_is_clearly_no_answer_is_found(gold: str, rule: str | None) -> None:
    assert no_answer(gold) == rule
