"""The small-policy evidence: golds and wrong answers, what is held out, the protocol's document, the test."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_arms
import small_boundary
import small_data
import small_figures
import small_legs
import small_record
import small_report
import small_stats
from small_model import make_model, make_tokenizer
from small_study import BEGIN, END
from small_tasks import FAMILIES, as_sample, boxed, items
from small_three_thousand import STUDY, held_out, training

from prorl_datasets import load
from prorl_training.run.checkpoint_store import STATE, checkpoint_path, seal
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.decisions import Decision
from prorl_verifiers import VerifierPool

DOCUMENT = STUDY.document


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    """The real verifiers, one worker."""
    with VerifierPool(workers=1) as opened:
        yield opened


def test_the_held_out_items_are_a_dataset_that_evaluation_reads(tmp_path: Path) -> None:
    samples = small_boundary.held_out_samples()
    small_data.write_dataset(tmp_path / "held-out", samples, ("test",))
    found = load(tmp_path / "held-out", "test")
    assert len(found) == len({s.id for s in found}) == 192 + 96
    assert {str(s.metadata["family"]) for s in found} == set(FAMILIES)
    assert {(s.metadata["family"], s.metadata["level"]) for s in found} >= {("sum", "4x3")}


@pytest.mark.parametrize("task", FAMILIES)
def test_golds_earn_full_marks_and_other_answers_none(pool: VerifierPool, task: str) -> None:
    family = FAMILIES[task]
    right, wrong = [], []
    for sizes in (*family.levels, *family.ladder):
        stream = items(family, sizes, "test", 5)
        first, second = next(stream), next(stream)
        right += [
            (first.work + boxed(first.answer), first.check),
            (boxed(first.answer), first.check),
        ]
        right += [(f"{first.work} {first.work}{boxed(first.answer)}", first.check)]
        wrong += [(boxed(first.answer * 2), first.check), (first.answer, first.check)]
        if first.answer != second.answer:
            wrong += [(boxed(second.answer), first.check)]
    assert [v.reward for v in pool.score(right)] == [1.0] * len(right)
    assert [v.reward for v in pool.score(wrong)] == [0.0] * len(wrong)


def test_nothing_held_out_is_trained_on() -> None:
    hidden = small_data.keys(held_out())
    samples = training((200, 16))
    keys = {(s.metadata["task"], s.prompt[0]["content"]) for s in samples}
    assert len(keys) == len(samples)
    assert not keys & hidden
    ladders = {(t, level_name(sizes)) for t, f in FAMILIES.items() for sizes in f.ladder}
    assert not {(s.metadata["task"], s.metadata["level"]) for s in samples} & ladders


def level_name(sizes: tuple[int, ...]) -> str:
    """Return a level's name as items carry it."""
    return "x".join(map(str, sizes))


def test_the_policy_is_small_and_reads_the_box_as_one_token() -> None:
    tokenizer = make_tokenizer()
    model = make_model(0, len(tokenizer))
    count = sum(p.numel() for p in model.parameters())
    assert f"{count:,} parameters" in DOCUMENT.read_text(encoding="utf-8")
    ids = tokenizer.encode(boxed("42"), add_special_tokens=False)
    assert len(ids) == 4
    assert tokenizer.decode(ids, skip_special_tokens=True) == boxed("42")


def test_the_dataset_folder_is_read_back(tmp_path: Path) -> None:
    stream = items(FAMILIES["sum"], (2, 2), "test", 1)
    samples = [
        as_sample(next(stream), i, s, "math")  # type: ignore[arg-type]
        for i, s in enumerate(("train", "validation"))
    ]
    small_data.write_dataset(tmp_path / "data", samples)
    assert [s.prompt[0]["content"] for s in load(tmp_path / "data")] == [
        s.prompt[0]["content"] for s in samples
    ]


def test_the_document_says_what_the_scripts_do() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert not re.findall(r"\{[A-Z_]+\}", text), "constants not filled in"
    for phrase in small_arms.protocol_phrases():
        assert phrase in " ".join(text.split()), phrase


def test_arms_differ_only_in_what_they_are_named_for(tmp_path: Path) -> None:
    made = {a: STUDY.config(a, 1, tmp_path, tmp_path).model_dump() for a in small_arms.ARMS}
    differs = {a: {k for k, v in made[a].items() if v != made["v2"][k]} - {"preset"} for a in made}
    assert differs["no-reset"] == {"controller"}
    assert differs["no-length"] == {"length_penalty"}
    assert differs["v2-kl"] == {"kl"}
    assert made["no-reset-kl"]["kl"] == made["v2-kl"]["kl"]
    assert {c["steps"] for c in made.values()} == {small_arms.STEPS}
    assert {c["optimizer"]["lr"] for c in made.values()} == {small_arms.LR}
    assert {str(c["rollout"]) for c in made.values()} == {str(made["v2"]["rollout"])}


def test_legs_end_at_the_budget_and_at_the_last_step() -> None:
    steps, budget, most = small_arms.STEPS, small_arms.TOKEN_BUDGET, small_arms.MOST_STEPS
    assert small_legs.next_leg(STUDY.ends, set()) == (steps, budget)
    assert small_legs.next_leg(STUDY.ends, {"budget"}) == (steps, 0)
    assert small_legs.next_leg(STUDY.ends, {"end"}) == (most, budget)
    assert small_legs.next_leg(STUDY.ends, {"budget", "end"}) is None
    assert _reached(steps - 1, budget) == ["budget"]
    assert _reached(steps, budget - 1) == ["end"]
    assert _reached(most, budget - 1) == ["budget", "end"]
    assert _reached(7, 7) == []
    assert _reached(7, 7, stopped=True) == ["budget", "end"]


def _reached(step: int, tokens: int, stopped: bool = False) -> list[str]:
    return small_legs.reached(STUDY.ends, {"step": step, "tokens_total": tokens}, stopped)


def test_only_a_stop_of_the_policy_itself_ends_a_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    _checkpoint(folder, 5)
    folder.log_decisions([Decision(4, "run_stopped", "no verdicts", {"in_step": 5})])
    assert small_legs.stop_of(folder) is None
    folder.log_decisions([Decision(5, "run_stopped", "not finite", {})])
    stop = small_legs.stop_of(folder)
    assert stop is not None and stop["reason"] == "not finite"
    _checkpoint(folder, 6)
    assert small_legs.stop_of(folder) is None


def _checkpoint(folder: RunFolder, step: int) -> None:
    path = checkpoint_path(folder.checkpoints, step)
    path.mkdir(parents=True)
    (path / STATE).write_text("{}")
    seal(path)


def test_curves_are_means_of_blocks() -> None:
    rows: list[dict[str, Any]] = [
        {"step": i + 1, "kl": float(i), "domains": {"math": {"pass_rate": 1.0}}} for i in range(20)
    ]
    rows[9] |= {"kl_gradient_share": 0.25}
    made = small_record.curves(rows)
    assert made["step"] == [10, 20]
    assert made["kl"] == [4.5, 14.5]
    assert made["entropy"] == [None, None]
    assert made["kl_gradient_share"] == [[10, 0.25]]


def test_t_and_holm_agree_with_printed_tables() -> None:
    assert small_stats.two_sided(2.179, 12) == pytest.approx(0.05, abs=2e-4)
    assert small_stats.two_sided(-4.303, 2) == pytest.approx(0.05, abs=2e-4)
    assert small_stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_equal_arms_are_rarely_called_different() -> None:
    rng = random.Random(3)
    called, rounds = 0, 40
    for _ in range(rounds):
        skill = [rng.random() for _ in range(12)]
        arms = [[_groups(rng, skill) for _ in range(3)] for _ in range(6)]
        variance = small_stats.pooled_variance(arms, ["t"], 1)
        test = small_stats.compare_arms(arms[0], arms[1], ["t"], 1, (variance, 12))
        called += test.p < 0.05
    assert called / rounds <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / rounds)


@pytest.mark.parametrize("missing", [0, 1])
def test_the_report_shows_every_run_and_leaves_the_protocol_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int
) -> None:
    rng = random.Random(1)
    names = [*FAMILIES, "sum/3x2", "backward/6"]
    base = _counts(rng, names)
    runs = {a: [_run(rng, a, s, names) for s in small_arms.SEEDS] for a in small_arms.ARMS}
    if missing:
        del runs["v2"][0]
    document = tmp_path / "report.md"
    document.write_text(f"protocol\n{BEGIN}old{END}\nafter\n")
    monkeypatch.setattr(small_stats, "DRAWS", 200)
    images = small_figures.draw(base, runs, tmp_path)
    text = "\n\n".join(small_report.sections(base, runs, images))
    small_report.write_between(document, text)
    written = document.read_text(encoding="utf-8")
    assert written.startswith("protocol\n") and written.endswith("\nafter\n")
    assert f"{18 - missing} of 18 runs" in written and "old" not in written
    no_kl = "| justrl | 2975; 2975; 2975 | 5; 5; 5 | 2700; 2700; 2700 | no KL; no KL; no KL |"
    assert no_kl in written
    assert "| v2-kl | 2975; 2975; 2975 | 5; 5; 5 | 2700; 2700; 2700 | 7 (7-7); 7 (7-7);" in written
    assert "Compared inside a penalty window: v2 " in written
    assert "v2 2 stopped itself after step 2975: not finite." in written
    tested = ("| v2 - no-reset |", "| v2-kl - no-reset-kl |", "| sum ladder |")
    assert [row in written for row in tested] == [not missing] * 3
    assert ("**Partial.** These runs are missing: v2 1." in written) == bool(missing)
    assert all((tmp_path / name).is_file() for name in images)


def _counts(rng: random.Random, names: list[str]) -> dict[str, dict[str, list[int]]]:
    return {n: {"correct": [rng.randint(0, 256) for _ in range(4)]} for n in names}


def _run(rng: random.Random, arm: str, seed: int, names: list[str]) -> dict[str, Any]:
    curve: dict[str, Any] = {k: [1.0, None] for k in small_record.CURVES} | {"step": [10, 20]}
    curve["kl_gradient_share"] = [] if arm == "justrl" else [[10, 0.07]]
    at = {"step": 2975, "tokens": 5, "length_penalty_active": True, "last_reset": 2700}
    return {
        "arm": arm,
        "seed": seed,
        "protocol": STUDY.protocol_digest(),
        "stopped": "not finite" if (arm, seed) == ("v2", 2) else None,
        "steps": 2975,
        "tokens": 9,
        "step_seconds": 60.0,
        "decisions": [],
        "curves": curve,
        "evaluations": {"budget": at | {"groups": _counts(rng, names)}},
    }


def _groups(rng: random.Random, skill: list[float]) -> dict[str, dict[str, list[int]]]:
    drift = rng.gauss(0, 0.03)
    chances = [min(max(s + drift, 0.0), 1.0) for s in skill]
    return {"t": {"correct": [sum(rng.random() < p for _ in range(256)) for p in chances]}}
