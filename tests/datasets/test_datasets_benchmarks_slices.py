from __future__ import annotations

from pathlib import Path

import pytest

from prorl_datasets.benchmarks import benchmark_questions, read_benchmark
from prorl_verifiers import VerifierPool, load_task

SLICES = {
    "aime_2024": ("math/aime24", 30, None),
    "aime_2025": ("math/aime25", 30, None),
    "amc": ("math/aimo_amc_2022_23", 83, None),
    "math_500": ("math/math500", 500, None),
    "minerva": ("math/minerva_math", 272, None),
    "olympiadbench": ("math/olympiadbench", 675, "675 rows where 674"),
    "humaneval_plus": ("code/humaneval_even", 82, "82 rows where 164"),
    "livecodebench": ("code/livecodebench_sample", 3, "3 rows where 279"),
    "ifeval": ("if/ifeval_input_data", 541, None),
}
"""Benchmark -> (slice, number of rows, expected message if the count differs from the published one)."""


@pytest.mark.parametrize("name", SLICES)
def test_every_row_loads_and_every_gold_is_accepted(
    name: str, test_data: Path, tmp_path: Path, pool: VerifierPool
) -> None:
    slice_name, rows, note = SLICES[name]
    (tmp_path / f"{name}.jsonl.gz").symlink_to(test_data / f"{slice_name}.jsonl.gz")
    loaded = read_benchmark(name, mirror=tmp_path)
    samples = loaded.samples
    assert len(samples) == rows == len({s.id for s in samples}) and not loaded.unusable
    assert (loaded.note is None) if note is None else (note in str(loaded.note))
    for sample in samples:
        assert load_task(sample.task.verifier, sample.task.reference_json())
        assert sample.metadata["question"]
    if name != "livecodebench":  # SandboxFusion's copy replaces the question by another prompt
        asked = dict(benchmark_questions(name, mirror=tmp_path))
        assert [asked[s.id].strip() for s in samples] == [
            s.metadata["question"].strip() for s in samples
        ]
    with_gold = [s for s in samples if "gold_response" in s.metadata]
    assert len(with_gold) == (0 if name == "livecodebench" or "ifeval" in name else rows)
    if name == "humaneval_plus":
        checks = [s for s in with_gold if s.metadata["form"] == "check"]
        with_gold = with_gold[::16] + checks[::3]
    verdicts = pool.score([(s.metadata["gold_response"], s.task) for s in with_gold])
    pairs = zip(with_gold, verdicts, strict=True)
    assert [(s.id, v.reason) for s, v in pairs if v.reward != 1.0] == []


def test_the_40_amc_problems_of_2023_load_as_amc_rows(test_data: Path, tmp_path: Path) -> None:
    (tmp_path / "amc.jsonl.gz").symlink_to(test_data / "math/amc23.jsonl.gz")
    samples = read_benchmark("amc", mirror=tmp_path).samples
    assert len(samples) == 40
    assert all(s.task.reference["answer"].lstrip("-").isdigit() for s in samples)


def test_the_answer_of_aime_2025_ii_5_has_no_degree_sign(test_data: Path, tmp_path: Path) -> None:
    (tmp_path / "aime_2025.jsonl.gz").symlink_to(test_data / "math/aime25.jsonl.gz")
    golds = [
        s.task.reference["answer"] for s in read_benchmark("aime_2025", mirror=tmp_path).samples
    ]
    assert golds[19] == "336"


def test_sandboxfusions_livecodebench_rows_have_functional_and_stdin_tests(
    test_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "livecodebench.jsonl.gz").symlink_to(
        test_data / "code/livecodebench_sample.jsonl.gz"
    )
    samples = read_benchmark("livecodebench", mirror=tmp_path).samples
    calls = [t for s in samples for t in s.task.reference["tests"] if "call" in t]
    assert calls and calls[0]["call"] == "countSeniors" and calls[0]["expected"] == 2
    assert "### Format" not in str(samples[1].metadata["question"])
