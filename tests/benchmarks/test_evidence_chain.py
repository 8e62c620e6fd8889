"""The boundary study: chains that luck cannot solve, its base's demonstrations, its protocol and statistics."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import chain_broad
import chain_broad_report
import chain_collapse
import chain_collapse_report
import chain_power
import chain_report
import chain_stats
import chain_study
import numpy as np
import pytest
import small_run
import small_study
from chain_collapse_report import verdict
from chain_guess import luck
from chain_tasks import CHAINS, FAMILIES, RUNGS
from small_base import base_digest
from small_data import keys
from small_eval import evaluate
from small_legs import next_leg, reached
from small_model import make_model, make_tokenizer, save
from small_report import read_results
from small_study import Ends, Sampling
from small_tasks import boxed, items

from prorl_training.config.sampling import DataConfig
from prorl_verifiers import VerifierPool

STUDY = chain_study.STUDY
LUCKY = 0.001
"""No guess that does not look at the prompt is right more often."""


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    """The real verifiers, one worker."""
    with VerifierPool(workers=1) as opened:
        yield opened


@pytest.mark.parametrize("name", CHAINS)
def test_golds_earn_full_marks_and_other_states_none(pool: VerifierPool, name: str) -> None:
    right, wrong = [], []
    for rung in RUNGS:
        stream = items(FAMILIES[name], (rung,), "test", 5)
        first, second = next(stream), next(stream)
        right += [(first.work + boxed(first.answer), first.check)]
        wrong += [(first.work + boxed(first.prompt.split()[0]), first.check)]
        wrong += [(first.work, first.check), (boxed(second.answer), first.check)]
        wrong += [(boxed(first.answer[:-1]), first.check)]
    assert [v.reward for v in pool.score(right)] == [1.0] * len(right)
    assert [v.reward for v in pool.score(wrong)] == [0.0] * len(wrong)


def test_programs_do_what_their_operations_say() -> None:
    assert CHAINS["word"].run("abz", "RLMD") == ["abz", "zba", "baz", "yza", "cza"]
    assert CHAINS["number"].run("0998", "ERLM") == ["0998", "1003", "3001", "0013", "9986"]
    assert CHAINS["plate"].run("az09", "XYMB") == ["az09", "za09", "za90", "az09", "cz01"]


@pytest.mark.parametrize("name", CHAINS)
def test_every_rung_composes_one_more_operation_and_none_is_undone(name: str) -> None:
    for rung in RUNGS:
        item = CHAINS[name].make(random.Random(rung), (rung,))
        state, program = item.prompt.split()
        states = CHAINS[name].run(state, program)
        assert len(program) == rung and len(set(states)) == rung + 1
        assert item.answer == states[-1] and item.level == str(rung)


@pytest.mark.parametrize("name", CHAINS)
def test_luck_solves_next_to_nothing(name: str) -> None:
    chain = CHAINS[name]
    assert chain.answers >= 10_000
    for rung in (RUNGS[0], RUNGS[-1]):
        found = luck(chain, rung, 10_000)
        assert max(found.constant, found.likeliest, found.marginal) <= LUCKY
    assert found.program <= LUCKY


def test_nothing_held_out_is_taught_or_trained_on() -> None:
    hidden = keys(STUDY.held_out())
    assert len(hidden) == len(CHAINS) * len(RUNGS) * chain_study.EVAL_ITEMS
    samples = chain_study.training((80, 8))
    assert not {(s.metadata["task"], s.prompt[0]["content"]) for s in samples} & hidden
    assert {s.metadata["level"] for s in samples} == {str(rung) for rung in RUNGS}
    shown = [s for n in range(20) for s in STUDY.start.draw(random.Random(n))]
    assert not {item.key for item, _ in shown} & hidden


def test_upper_rungs_are_shown_in_form_alone() -> None:
    shown = [s for n in range(20) for s in STUDY.start.draw(random.Random(n))]
    upper = [(i, r) for i, r in shown if int(i.level) > max(chain_study.TAUGHT)]
    assert 0.05 < len(upper) / len(shown) < 0.15
    for item, response in upper:
        learnt = "".join(text for text, learns in response if learns)
        assert learnt == item.prompt.split()[1] + boxed("")
    assert all(learns for i, r in shown if int(i.level) in chain_study.TAUGHT for _, learns in r)


def test_the_base_is_the_protocols() -> None:
    assert base_digest(STUDY) == chain_study.BASE_SHA256


def test_arms_differ_only_in_what_they_are_named_for(tmp_path: Path) -> None:
    made = {
        arm: STUDY.config(arm, 1, tmp_path, tmp_path).model_dump()
        for arm in STUDY.arms
        if _is_understood(arm)
    }
    differs = {a: {k for k, v in made[a].items() if v != made["v2"][k]} - {"preset"} for a in made}
    expected = {
        "v2": set(),
        "v2-adaptive": {"data"},
        "pass-at-k": {"advantage"},
        "broad": {"rollout", "optimizer"},
        "no-reset": {"controller"},
    }
    assert {a: d for a, d in differs.items() if a in expected} == {
        a: d for a, d in expected.items() if a in made
    }
    assert {c["rollout"]["max_tokens"] for c in made.values()} == {chain_study.MAX_TOKENS}


def _is_understood(arm: str) -> bool:
    """Say whether this prorl has what the arm needs: drawing by posteriors came with advantages for pass@k."""
    return arm not in ("v2-adaptive", "pass-at-k") or "sampling" in DataConfig.model_fields


def test_a_run_ends_when_its_tokens_are_sampled() -> None:
    ends = STUDY.ends
    assert next_leg(ends, set()) == (ends.most_steps, ends.tokens)
    assert next_leg(ends, {"budget"}) is None
    assert reached(ends, {"step": 9, "tokens_total": ends.tokens}, False) == ["budget"]
    assert reached(ends, {"step": 9, "tokens_total": 1}, False) == []


def test_a_killed_evaluation_goes_on_after_its_last_group(
    tmp_path: Path, pool: VerifierPool
) -> None:
    tokenizer = make_tokenizer()
    save(make_model(0, len(tokenizer), 16, 1), tokenizer, tmp_path / "model")
    groups = {name: found[:2] for name, found in STUDY.held_out().items() if name.endswith("/1")}
    sampling = Sampling(1, 3, 1.0, 4)
    first = evaluate(tmp_path / "model", groups, pool, sampling, tmp_path / "done")
    assert {name: len(found["correct"]) for name, found in first.items()} == dict.fromkeys(
        groups, 2
    )
    again = evaluate(tmp_path / "model", groups, None, sampling, tmp_path / "done")
    assert again == first


def test_runs_go_seed_by_seed_with_more_seeds_for_the_primary_arms() -> None:
    names = STUDY.run_names()
    assert names[:6] == [f"{arm}-seed1" for arm in STUDY.arms]
    assert names[-2:] == [f"{arm}-seed5" for arm in chain_study.PRIMARY]
    assert STUDY.parse_run("v2-adaptive-seed5") == ("v2-adaptive", 5)


def test_the_document_says_what_the_scripts_do() -> None:
    text = " ".join(STUDY.document.read_text(encoding="utf-8").split())
    for phrase in chain_study.protocol_phrases():
        assert " ".join(phrase.split()) in text, phrase


def test_items_are_outside_or_good_by_the_bases_samples() -> None:
    base = {"word/1": {"correct": [0, 1, 600]}, "word/8": {"correct": [0]}}
    assert [(p.group, p.index) for p in chain_stats.outside(base)] == [("word/1", 0), ("word/8", 0)]
    assert [(p.group, p.index) for p in chain_stats.good(base)] == [("word/1", 2)]
    run = {"word/1": {"correct": [64, 0, 256]}, "word/8": {"correct": [128]}}
    assert chain_stats.values([run], chain_stats.outside(base), 1) == pytest.approx(
        np.array([[0.25, 0.5]])
    )


def test_an_interval_over_five_seeds_is_that_of_the_printed_t_table() -> None:
    seeds = np.exp(np.array([[-0.4], [-0.2], [0.0], [0.2], [0.4]])) * 0.1
    found = chain_stats.typical(seeds, ["outside"], 0.95)
    half = 2.776 * math.sqrt(0.1 / 5)  # t of 4 degrees at 95 %; one item alone has no variance
    assert found.value == pytest.approx(0.1)
    assert found.high == pytest.approx(0.1 * math.exp(half), rel=1e-3)
    assert found.low == pytest.approx(0.1 * math.exp(-half), rel=1e-3)


def test_claims_are_rarely_wrong_and_a_moved_boundary_is_seen() -> None:
    world = chain_power.World(items=120, seeds=5, spread=0.6)
    margin = chain_power.claims(world, chain_stats.GAIN_MARGIN, 200)
    assert margin["yes"] <= 0.03 and margin["no"] <= 0.03
    assert chain_power.claims(world, 0.0, 20)["no"] == 1.0
    assert chain_power.claims(world, 0.1, 100)["yes"] >= 0.9


def test_a_ratio_of_equal_arms_covers_one() -> None:
    rng = np.random.default_rng(1)
    world = chain_power.World(items=60, seeds=5, spread=0.3)
    groups = ["outside"] * world.items
    covered = 0
    for _ in range(60):
        shift = rng.integers(1 << 30)
        a = chain_power.draw(world, 0.05, np.random.default_rng(shift))
        b = chain_power.draw(world, 0.05, np.random.default_rng(shift + 1))
        found = chain_stats.ratio(a, b, groups, 0.95)
        covered += found.low <= 1 <= found.high
    assert covered >= 52


def test_pass_at_k_is_lost_kept_or_undecided_by_the_margin() -> None:
    base = np.full((1, 40), 0.95)
    groups = ["word/1"] * 40
    for value, claim in ((0.95, "kept"), (0.5, "lost")):
        runs = np.full((3, 40), value) + np.array([[-0.01], [0.0], [0.01]])
        assert chain_stats.kept(chain_stats.difference(runs, base, groups, 0.95)) == claim
    apart = np.repeat([[0.95], [0.7], [0.95]], 40, axis=1)
    assert chain_stats.kept(chain_stats.difference(apart, base, groups, 0.95)) == "undecided"


@pytest.mark.parametrize("missing", [0, 1])
def test_the_report_claims_nothing_while_a_run_is_missing(missing: int) -> None:
    rng = random.Random(4)
    base = _counts(rng, lambda rung: 1000 if rung < 4 else 0)
    control = _counts(rng, lambda rung: 250 if rung < 4 else 0)
    runs = {
        arm: [_run(rng, arm, seed, 40 if arm == "v2-adaptive" else 0) for seed in spec.seeds]
        for arm, spec in STUDY.arms.items()
    }
    if missing:
        runs["grpo"].pop()
    text = "\n\n".join(chain_report.sections(base, control, runs))
    assert f"{22 - missing} of 22 runs" in text
    assert ("**Partial.** These runs are missing: grpo 3." in text) == bool(missing)
    assert ("(97.5 %) | yes |" in text) == (not missing)
    assert ("(97.5 %) | no |" in text) == (not missing)
    assert "| 8 | 0 | 48 | 48 | 0 | 0.000 |" in text
    assert ("### Rungs 5 to 8 alone" in text) == (not missing)


def _counts(rng: random.Random, right: Callable[[int], int]) -> dict[str, dict[str, list[int]]]:
    return {
        f"{name}/{rung}": {"correct": [max(0, right(rung) - rng.randint(0, 3)) for _ in range(16)]}
        for name in CHAINS
        for rung in RUNGS
    }


def _run(rng: random.Random, arm: str, seed: int, upper: int) -> dict[str, Any]:
    at = {"step": 900, "tokens": 5, "length_penalty_active": False, "last_reset": 600}
    groups = _counts(rng, lambda rung: 250 if rung < 4 else upper)
    return {
        "arm": arm,
        "seed": seed,
        "protocol": STUDY.protocol_digest(),
        "stopped": None,
        "curves": {"kl_gradient_share": [[10, 0.01]]},
        "evaluations": {"budget": at | {"groups": groups}},
    }


@pytest.mark.parametrize("study", [chain_collapse, chain_broad])
def test_the_document_of_a_later_study_says_what_it_is(study: ModuleType) -> None:
    text = study.STUDY.document.read_text(encoding="utf-8")
    head = text.split(small_study.BEGIN)[0]
    for phrase in study.protocol_phrases():
        assert phrase.removesuffix(" |") in " ".join(head.split()) or phrase in head, phrase
    for arm in study.STUDY.arms:
        study.STUDY.config(arm, 1, STUDY.results, STUDY.results)


def test_an_arm_shrinks_only_where_every_seed_has_lost_more_than_the_bound() -> None:
    assert verdict(0.6, [0.5, 0.3]) == "shrinks"
    assert verdict(0.6, [0.5, 0.58]) == "mixed"
    assert verdict(0.6, [0.551, 0.9]) == "holds"


def shown(study: small_study.Study) -> str:
    """Return the results on a study's page."""
    text = study.document.read_text(encoding="utf-8")
    return text.split(small_study.BEGIN)[1].split(small_study.END)[0].strip()


def test_the_pages_of_the_later_studies_show_what_their_files_say() -> None:
    base, studied = read_results(STUDY)
    control = json.loads(STUDY.result_path("base-again").read_text(encoding="utf-8"))["groups"]
    assert base is not None
    _, short = read_results(chain_collapse.STUDY)
    assert shown(chain_collapse.STUDY) == "\n\n".join(chain_collapse_report.sections(base, short))
    _, runs = read_results(chain_broad.STUDY)
    found = chain_broad_report.sections(base, control, studied, runs)
    assert shown(chain_broad.STUDY) == "\n\n".join(found)


@pytest.mark.slow
def test_a_run_goes_from_the_base_to_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_study, "EVIDENCE", tmp_path)
    few = {name: found[:1] for name, found in STUDY.held_out().items() if name.endswith("/2")}
    sampling = Sampling(1, 4, 1.0, chain_study.MAX_TOKENS)
    study = replace(
        STUDY,
        ends=Ends(12_000, 0, 4),
        sampling=sampling,
        base_samplings={"base": sampling},
        held_out=lambda: few,
        training=lambda: chain_study.training((80, 8)),
    )
    study.document.write_text("protocol")
    assert small_run.run_one(study, "v2-seed1", tmp_path / "work") == 0
    result = json.loads(study.result_path("v2-seed1").read_text(encoding="utf-8"))
    assert result["arm"] == "v2" and result["base"] == chain_study.BASE_SHA256
    assert set(result["evaluations"]) == {"budget"}
    assert set(result["evaluations"]["budget"]["groups"]) == set(few)
    assert study.result_path("base").exists() and not (tmp_path / "work" / "v2-seed1").exists()
