"""The SmolLM2 evidence: golds, what is held out, the protocol's document, the statistics, the page."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import smollm_figures
import smollm_protocol as protocol
import smollm_report
import smollm_statistics as statistics
from smollm_protocol import STUDY
from smollm_study import question_key

from prorl_datasets import Sample
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.row import Drop, Row
from prorl_datasets.sources.reasoning_gym import ReasoningGymSource, row_of
from prorl_datasets.sources.rg_entries import make_entry
from prorl_verifiers import Task, VerifierPool, WorkerOptions

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / smollm_report.DOCUMENT
EVIDENCE = ROOT / smollm_report.EVIDENCE
HELD_OUT = protocol.PROTOCOL.held_out


def _rows(entry: Entry, source: ReasoningGymSource) -> Iterator[Row | Drop]:
    """Yield rows of a task; some items cannot be asked."""
    for seed in range(1, 20):
        made = make_entry({}, source.task, dict(source.config), seed)
        yield row_of(entry, source, seed, {"entry": json.loads(json.dumps(made, default=str))})


def test_every_task_makes_items_whose_gold_its_verifier_accepts() -> None:
    asked = []
    for entry in STUDY.recipe(STUDY.scale).entries:
        assert isinstance(entry.source, ReasoningGymSource)
        row = next(row for row in _rows(entry, entry.source) if not isinstance(row, Drop))
        assert row.gold is not None
        asked += [(row.gold, row.task), ("<answer>nonsense</answer>", row.task)]
    with VerifierPool(workers=1, worker_options=WorkerOptions(warm=["logic"])) as pool:
        verdicts = pool.score(asked)
    assert [v.reward == 1 for v in verdicts] == [True, False] * len(protocol.TASKS)


def sample(question: str, split: str = "test", task: str = "gcd", gold: str = "1") -> Sample:
    return Sample(
        id=f"{split}-{question}",
        domain="logic",
        prompt=({"role": "user", "content": question},),
        task=Task("math", {"answer": "1"}),
        source="test",
        licence="none",
        split=split,  # type: ignore[arg-type]
        metadata={"family": task, "entry": task, "gold_response": gold},
    )


def test_items_that_differ_in_order_date_or_letter_alone_are_the_same_problem() -> None:
    one = question_key(sample("GCD of these numbers: 20, 8"))
    assert one == question_key(sample("GCD of these numbers: 8, 20"))
    assert one != question_key(sample("GCD of these numbers: 8, 21"))
    assert one != question_key(replace(sample("x"), prompt=({"content": "20, 80"},)))
    dated = "Count back 3 days from Monday, October {}, 2022"
    assert question_key(sample(dated.format(10))) == question_key(sample(dated.format(17)))
    assert question_key(sample("Solve 5*p + 4 = 19")) == question_key(sample("Solve 5*x + 4 = 19"))
    assert question_key(sample("Solve 5*p + 4 = 19")) != question_key(sample("Solve 5*p + 4 = 24"))


def dataset(extra: int) -> list[Sample]:
    rows = []
    for t in protocol.TASKS:
        rows += [sample(f"question {i} of {t.name}", "test", t.name) for i in range(extra)]
        rows.append(sample(f"of {t.name} question 0", "train", t.name))
    return rows


def test_held_out_items_share_no_problem_with_training() -> None:
    rows = dataset(HELD_OUT + 1)
    chosen = STUDY.held_out(rows, HELD_OUT)
    assert len(chosen) == HELD_OUT * len(protocol.TASKS)
    trained = {question_key(s) for s in rows if s.split == "train"}
    keys = [question_key(s) for s in chosen]
    assert not trained & set(keys)
    assert len(set(keys)) == len(keys)
    assert "test-question 0 of gcd" not in {s.id for s in chosen}


def test_too_few_held_out_items_are_an_error() -> None:
    with pytest.raises(ValueError, match="held-out items"):
        STUDY.held_out(dataset(HELD_OUT), HELD_OUT)


def test_chance_is_what_the_commonest_training_answer_scores() -> None:
    rows = []
    for t in protocol.TASKS:
        rows += [sample(f"{i} a {t.name}", "train", t.name, gold) for i, gold in enumerate("112")]
        rows += [sample(f"{i} b {t.name}", "test", t.name, gold) for i, gold in enumerate("1223")]
    items = [s for s in rows if s.split == "test"]
    assert STUDY.chance(rows, items) == {t.name: 0.25 for t in protocol.TASKS}


def test_the_run_config_is_a_valid_one_of_at_least_a_hundred_steps(tmp_path: Path) -> None:
    config = STUDY.train_config("run", tmp_path, STUDY.scale)
    assert config.steps == protocol.STEPS >= 100
    assert config.rollout.max_tokens == protocol.MAX_TOKENS
    assert config.rollout.temperature == 1.0


def test_a_rehearsal_uses_other_seeds_than_the_protocol(tmp_path: Path) -> None:
    full = STUDY.train_config("run", tmp_path, STUDY.scale)
    small = STUDY.train_config("run", tmp_path, STUDY.rehearsal)
    assert small.steps == 2
    assert small.seed != full.seed
    assert STUDY.recipe(STUDY.rehearsal).seed != STUDY.recipe(STUDY.scale).seed


def test_the_document_states_the_protocol_of_the_constants() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert smollm_report.put(text, "protocol", smollm_report.protocol_block()) == text


def test_the_documents_results_are_those_of_the_committed_files() -> None:
    text = DOCUMENT.read_text("utf-8")
    if (EVIDENCE / "evaluation.csv").exists():
        block = smollm_report.results_block(EVIDENCE)
        assert smollm_report.put(text, "results", block) == text
    else:
        assert "The run has not been done yet." in text


def write_evaluation(path: Path, gain: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        names = [
            "model",
            "sampling",
            "task",
            "item",
            "n",
            "c",
            "reward_mean",
            "tokens",
            "unparsable",
        ]
        writer.writerow(names)
        for model in statistics.MODELS:
            for t in protocol.TASKS:
                for i in range(10):
                    c = i % 5 + (gain if model == "trained" else 0)
                    writer.writerow(
                        [model, "sampled", t.name, f"{t.name}-{i}", 16, c, c / 16, 128, 1]
                    )
                    writer.writerow([model, "greedy", t.name, f"{t.name}-{i}", 1, i % 2, 0.5, 8, 0])


def test_the_primary_test_finds_a_gain_that_is_there_and_none_that_is_not(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "gain.csv", 4)
    gain = statistics.primary(statistics.read_evaluation(tmp_path / "gain.csv"))
    assert gain.low > 0
    assert math.isclose(gain.value, 0.25)
    write_evaluation(tmp_path / "none.csv", 0)
    none = statistics.primary(statistics.read_evaluation(tmp_path / "none.csv"))
    assert (none.value, none.low, none.high) == (0, 0, 0)


def test_models_must_be_compared_on_the_same_items(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "e.csv", 1)
    rows = statistics.read_evaluation(tmp_path / "e.csv")
    first = next(r for r in rows if r.model == "trained" and r.sampling == "sampled")
    with pytest.raises(ValueError, match="same items"):
        statistics.primary([r for r in rows if r != first])


def test_sign_flips_are_two_sided_and_never_quite_certain() -> None:
    up = statistics.sign_flip([0.1] * 20, "up")
    assert up == statistics.sign_flip([-0.1] * 20, "up")
    assert 0 < up < 0.01
    assert statistics.sign_flip([0.1, -0.1] * 10, "even") == 1.0


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_keeps_the_order() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0]


def test_page_and_figures_are_made_from_the_files_of_a_run(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "evaluation.csv", 4)
    facts = {
        "held_out_items": 80,
        "shared_keys": 0,
        "chance": {t.name: 0.1 for t in protocol.TASKS},
    }
    (tmp_path / "facts.json").write_text(json.dumps(facts), "utf-8")
    lines = [
        {"step": i, "reward_mean": 0.1, "kl": 0.01, "entropy": 1.0, "response_length_mean": 9.0}
        | {"seconds": 8.0}
        | ({"validation_reward": 0.2} if i % 5 == 0 else {})
        for i in range(1, 21)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "metrics.jsonl").write_text(text, "utf-8")
    block = smollm_report.results_block(tmp_path)
    assert "RL raised pass@1." in block
    assert "+0.250" in block
    smollm_figures.draw(tmp_path, tmp_path)
    assert (tmp_path / "smollm2-run.png").stat().st_size > 1000
    assert (tmp_path / "smollm2-tasks.png").stat().st_size > 1000
