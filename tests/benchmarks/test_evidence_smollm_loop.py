"""SmolLM2 with and without the plateau loop: its protocol, luck by counting, what is kept of a run, its page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import smollm_loop as loop
import smollm_loop_report as report
from smollm_loop import STUDY
from smollm_loop_figure import FIGURE
from smollm_loop_record import BEGIN, END, protocol_digest, record
from smollm_luck import luck, luck_by_task
from smollm_run import STUDIES

from prorl_datasets import Sample
from prorl_evaluation import EvalResult, EvalSettings, ProblemResult, load_result
from prorl_evaluation.metrics.summary import group_results
from prorl_verifiers import Task

LOW, HIGH = 2, 200
"""Right answers of 256 before and after a gain."""


def sample(entry: str, family: str, gold: str, place: int = 0, split: str = "test") -> Sample:
    return Sample(
        id=f"{entry}-{split}-{place}",
        domain="logic",
        prompt=({"role": "user", "content": f"{split} {gold} {place}"},),
        task=Task("math", {"answer": "1"}),
        source="test",
        licence="none",
        split=split,  # type: ignore[arg-type]
        metadata={"family": family, "entry": entry, "gold_response": f"<answer>{gold}</answer>"},
    )


def test_the_document_says_what_the_scripts_do() -> None:
    text = STUDY.document.read_text(encoding="utf-8")
    for phrase in loop.protocol_phrases():
        assert phrase in text, phrase


def test_the_arms_differ_in_the_loop_alone(tmp_path: Path) -> None:
    arms = [STUDY.train_config(a, tmp_path, STUDY.scale).model_dump() for a in STUDY.arms]
    differs = {key for key, value in arms[0].items() if value != arms[1][key]}
    assert differs == {"data", "controller"}
    assert arms[1]["data"] == arms[0]["data"] | {"sampling": "posterior"}
    changed = {k for k, v in arms[1]["controller"].items() if v != arms[0]["controller"][k]}
    assert changed == {"stall_validations", "stall_gain", "on_stall"}
    assert not {"raise_samples", "end"} & set(arms[1]["controller"]["on_stall"])  # equal tokens
    assert arms[0]["steps"] >= 250


def test_a_rehearsal_uses_other_seeds_than_the_protocol(tmp_path: Path) -> None:
    full, small = (
        STUDY.train_config("with", tmp_path, scale) for scale in (STUDY.scale, STUDY.rehearsal)
    )
    assert small.steps == 2 and small.seed != full.seed
    assert STUDY.rehearsal.data_seed != STUDY.scale.data_seed


def test_luck_is_counted_from_orders_of_words_and_digits_of_sums() -> None:
    assert luck(sample("words-2", "word_sequence_reversal", "a, b, c")) == pytest.approx(1 / 6)
    assert luck(sample("words-2", "word_sequence_reversal", "a, b, a")) == pytest.approx(1 / 3)
    assert luck(sample("sums-1", "chain_sum", "7")) == pytest.approx(1 / 10)
    assert luck(sample("sums-3", "chain_sum", "-141")) == pytest.approx(1 / 900)
    items = [
        sample(t.name, t.task, "a, b, c" if t.task == "word_sequence_reversal" else "12")
        for t in STUDY.tasks
    ]
    assert luck_by_task(STUDY, items, 2)["words-1"] == pytest.approx(1 - (5 / 6) ** 2)


def test_held_out_items_carry_their_level() -> None:
    rows = [sample(t.name, t.task, f"{t.name}, x", i) for t in STUDY.tasks for i in range(3)]
    rows = [
        replace(r, prompt=({"role": "user", "content": f"{r.id} {i}"},)) for i, r in enumerate(rows)
    ]
    found = STUDY.held_out(rows, 2)
    assert [s.metadata["level"] for s in found] == [t.level for t in STUDY.tasks for _ in range(2)]


def result(name: str, right: Mapping[str, int]) -> EvalResult:
    """Return a result in which each task's items have so many right answers of 256."""
    problems = tuple(
        ProblemResult(
            id=f"{t.name}-{i}",
            domain="logic",
            prompt_sha256=f"{t.name}-{i}",
            task_sha256="x",
            sampled=256,
            n=256,
            c=right[t.name],
            reward_mean=right[t.name] / 256,
            infra_errors=0,
            timeouts=0,
            unparsable=0,
            truncated=0,
            tokens=2560,
            labels={"family": t.task, "level": t.level or 0},
        )
        for t in STUDY.tasks
        for i in range(STUDY.scale.held_out)
    )
    settings = EvalSettings(n=256, k=loop.K, draws=200, label=f"{name}/sampled")
    groups = tuple(group_results(problems, settings))
    return EvalResult(name, "", settings, problems, groups, (), (), 0, 0.0, 0.0, "")


def run(arm: str, tokens: int) -> dict[str, Any]:
    """Return a finished run's record."""
    keys = (
        "reward_mean",
        "filter_rate",
        "groups_kept",
        "entropy",
        "response_length_mean",
        "seconds",
    )
    stall = {"rule": "stalled_validation"}
    return {
        "arm": arm,
        "protocol": protocol_digest(STUDY),
        "start": "the same",
        "steps": loop.STEPS,
        "tokens": tokens,
        "items_solved": 100,
        "validation": [[10, 0.1], [20, 0.2]],
        "curves": {"step": [10, 20], **{key: [0.1, None] for key in keys}},
        "decisions": [
            {
                "step": 90,
                "kind": "items_rerated",
                "reason": "validation stalled",
                "evidence": stall,
            },
            {
                "step": 100,
                "kind": "reference_reset",
                "reason": "x",
                "evidence": {"rule": "interval"},
            },
        ],
    }


RUNS = {"without": run("without", 1000), "with": run("with", 900)}
ITEMS = {"luck": {str(k): {t.name: 0.1 for t in STUDY.tasks} for k in (1, loop.K)}}


def level_gain(gain: int) -> dict[str, int]:
    """Return the right answers of each task's items: the upper two levels gain."""
    return {t.name: 30 if t.level in (1, 2) else LOW + gain for t in STUDY.tasks}


def test_the_page_says_what_each_arm_did_and_what_the_loop_did() -> None:
    results = {
        "step-0": result("step-0", {t.name: 30 if t.level in (1, 2) else 0 for t in STUDY.tasks}),
        "without": result("without", level_gain(HIGH)),
        "with": result("with", level_gain(HIGH)),
    }
    text = report.results_block(results, RUNS, ITEMS)
    assert text.count("**sustained**") == 2
    assert "the same weights, bit for bit" in text and "10.0% fewer tokens" in text
    assert "step 90 items_rerated: validation stalled" in text and "interval" not in text
    assert "not at equal tokens" not in text
    assert "| words-1 | 0.100; 0.100 | 0.117 |" in text
    more = {**RUNS, "with": run("with", 1100), "without": run("without", 1000) | {"protocol": "?"}}
    text = report.results_block(results, more, ITEMS)
    assert "not at equal tokens" in text and "protocol was changed" in text


def test_nothing_is_claimed_while_a_model_is_missing() -> None:
    assert "Nothing is claimed." in report.results_block({}, {}, {})
    results = {"with": result("with", level_gain(HIGH))}
    text = report.results_block(results, {"with": RUNS["with"]}, ITEMS)
    assert "Not there yet: step-0, without. Nothing is claimed." in text
    assert "sustained" not in text and "minus without" not in text


def test_the_documents_results_are_those_of_the_committed_files() -> None:
    text = STUDY.document.read_text(encoding="utf-8")
    assert report.put(text, report.results_block(*report.read(STUDY.results))) == text


def test_the_page_is_made_from_what_a_run_leaves(tmp_path: Path) -> None:
    work, evidence = tmp_path / "work", tmp_path / "evidence"
    start = work / "with" / "checkpoints" / "step_000000" / "policy" / "model.safetensors"
    start.parent.mkdir(parents=True)
    start.write_bytes(b"weights")
    row = {"step": 1, "tokens": 5, "seconds": 1.0, "reward_mean": 0.5, "domains": {}}
    row["validation_reward"] = 0.25
    (work / "with" / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    (work / "with" / "decisions.jsonl").write_text("")
    items = [
        sample(t.name, t.task, "a, b" if t.task == "word_sequence_reversal" else "12")
        for t in STUDY.tasks
    ]
    train = [sample(t.name, t.task, "12", 1, "train") for t in STUDY.tasks]
    results = {"with/sampled": result("with", level_gain(HIGH))}
    record(STUDY, work, evidence, [*items, *train], items, results)
    assert load_result(evidence / "with.json").problems == results["with/sampled"].problems
    found, runs, facts = report.read(evidence)
    assert set(found) == set(runs) == {"with"} and runs["with"]["tokens"] == 5
    assert facts["held_out"] == len(items) and facts["shared_keys"] == 0
    document = tmp_path / "page.md"
    document.write_text(f"Protocol.\n{BEGIN}\n{END}\n")
    words = ["--evidence", str(evidence), "--document", str(document), "--figures", str(tmp_path)]
    report.main(words)
    assert "Nothing is claimed." in document.read_text()
    assert (tmp_path / FIGURE).stat().st_size > 1000


def test_the_study_is_carried_out_by_the_same_runner() -> None:
    assert STUDIES["smollm2-loop"] is STUDY and set(STUDIES) == {"smollm2", "smollm2-loop"}
