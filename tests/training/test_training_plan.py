"""The model of time behind ``prorl plan``: work counted as torch counts it, and times that follow from it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from prorl_common import UserError
from prorl_inference.testing import tiny_model
from prorl_training.config import TrainConfig
from prorl_training.config.checks import check_config
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.launch.layout import Layout
from prorl_training.sizing.cards import Card, find_card, load_cards
from prorl_training.sizing.decoding import Sampler
from prorl_training.sizing.evidence import compare, evidence
from prorl_training.sizing.known import model_shape
from prorl_training.sizing.lengths import DISTILLED, LogNormal, Recorded, recorded_in
from prorl_training.sizing.plan import machine_of, make_plan, run_time
from prorl_training.sizing.ratios import read_measured, stated_ratios
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.time import Machine, Workload, step_time
from prorl_training.sizing.work import Tokens, forward_flops, read_bytes, update_flops

SHAPE = model_shape("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B")
RATIOS = stated_ratios()
H100 = find_card("h100")
NODE = Machine(H100, Layout(1, 8, 8, 1, True), RATIOS)
WORK = Workload(DISTILLED, 250, 0.5)
BARE = dict.fromkeys(("iteration_seconds", "row_seconds", "layer_seconds"), 0.0)


def small_run(**over: object) -> TrainConfig:
    toy = {"steps": 10, "rollout": {"prompts": 16, "samples": 8, "max_tokens": 1000}}
    return check_config({**toy, "validation": {"every": 0}, **over})


def test_a_forward_pass_has_the_operations_that_torch_counts() -> None:
    model, length = tiny_model(hidden=64, layers=3, vocab=512), 40
    model.set_attn_implementation("eager")  # the other one is not counted on a CPU
    shape = ModelShape.from_config(model.config.to_dict())
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(2, length, dtype=torch.long))
    # torch counts attention's whole square, masked or not
    ours = forward_flops(shape, Tokens(2 * length, 2 * length * length, 2 * length))
    assert ours == pytest.approx(counter.get_total_flops(), rel=0.01)


def test_forward_and_backward_together_have_the_operations_that_torch_counts() -> None:
    model, length = tiny_model(hidden=64, layers=3, vocab=512), 40
    model.set_attn_implementation("eager")  # the other one is not counted on a CPU
    shape = ModelShape.from_config(model.config.to_dict())
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(2, length, dtype=torch.long)).logits.sum().backward()
    pass_ = Tokens(2 * length, 2 * length * length, 2 * length)
    assert update_flops(shape, pass_, recomputed=False) == pytest.approx(
        counter.get_total_flops(), rel=0.05
    )
    assert update_flops(shape, pass_, True) == 4 * forward_flops(shape, pass_)


def test_sampling_one_token_reads_the_weights_once_and_the_cache_of_all_rows() -> None:
    alone, many = read_bytes(SHAPE, 0, 2), read_bytes(SHAPE, 1000, 2)
    embedding = 151936 * 1536
    assert alone == pytest.approx(2 * (SHAPE.parameters - embedding), rel=1e-4)
    assert many - alone == 1000 * 2 * 28 * 256 * 2


def test_a_sampler_takes_as_many_iterations_as_the_longest_response_of_each_batch() -> None:
    sampler = Sampler(SHAPE, H100, RATIOS.taking(BARE | {"iteration_seconds": 1.0}, "test"), rows=2)
    slow = replace(sampler, card=H100.model_copy(update={"flops": 1e30, "bandwidth": 1e30}))
    assert slow.seconds([5, 3], 10) == pytest.approx(5)
    assert slow.seconds([5, 3, 2], 10) == pytest.approx(5)  # the third takes the second's place
    assert slow.seconds([5, 3, 4], 10) == pytest.approx(7)
    assert replace(slow, rows=1).seconds([5, 3, 4], 10) == pytest.approx(12)


def test_few_sequences_wait_for_memory_and_many_for_products() -> None:
    sampler = Sampler(SHAPE, H100, RATIOS.taking(BARE, "test"), rows=1)
    one = sampler.iteration_seconds(1, 100)
    assert one == pytest.approx(read_bytes(SHAPE, 100, 2) / (H100.bandwidth * 0.6))
    assert sampler.iteration_seconds(2, 200) == pytest.approx(one, rel=0.01)
    many = forward_flops(SHAPE, Tokens(4000, 4000, 4000)) / (H100.flops * 0.4)
    assert sampler.iteration_seconds(4000, 4000) == pytest.approx(many)


def test_twice_the_cards_halve_the_passes_and_not_the_longest_response() -> None:
    config = small_run()
    two_nodes = replace(NODE, layout=Layout(2, 8, 16, 1, True))
    one, two = (step_time(config, SHAPE, m, WORK).stages for m in (NODE, two_nodes))
    assert one.gradients == pytest.approx(2 * two.gradients)
    assert one.logprobs == pytest.approx(2 * two.logprobs)
    longest = Sampler(SHAPE, H100, RATIOS, 1).seconds([1000], 250)
    assert longest < two.sampling < one.sampling


def test_rare_usable_groups_cost_samples_and_no_updates() -> None:
    config = small_run()
    half, quarter = (
        step_time(config, SHAPE, NODE, replace(WORK, usable=usable)) for usable in (0.5, 0.25)
    )
    assert half.sampled * 2 == pytest.approx(quarter.sampled, rel=0.01)
    assert half.trained == quarter.trained
    unfiltered = step_time(small_run(dynamic_sampling={"enabled": False}), SHAPE, NODE, WORK)
    assert unfiltered.sampled == unfiltered.trained == half.trained


def test_checkpointed_activations_cost_a_third_more_in_the_passes_with_gradient() -> None:
    plain = step_time(small_run(), SHAPE, NODE, WORK).stages
    less = step_time(small_run(model={"gradient_checkpointing": True}), SHAPE, NODE, WORK).stages
    assert less.gradients == pytest.approx(plain.gradients * 4 / 3)


def test_stages_add_up_to_the_step_and_phases_to_the_run() -> None:
    config = load_config("prorl-v1", None, ["steps=900"])
    phases = run_time(config, SHAPE, NODE, WORK)
    assert [(p.name, p.steps, p.at_most) for p in phases] == [
        ("run-1", 500, True),
        ("run-2", 250, False),
        ("run-3", 150, False),
    ]
    stages = phases[0].step.stages
    assert stages.total == pytest.approx(math.fsum(stages.by_stage().values()))
    plan = make_plan(config, SHAPE, 8, H100, RATIOS, WORK)
    assert plan.hours * 3600 == pytest.approx(sum(p.steps * p.step.stages.total for p in phases))
    assert plan.cost(2.0) == pytest.approx(plan.hours * 8 * 2.0)


def test_a_cache_without_room_for_one_response_is_refused_with_the_cure() -> None:
    small = H100.model_copy(update={"memory": 7.15e9})
    with pytest.raises(
        UserError, match=r"has no room for one response of 1250 tokens.*vllm_memory"
    ):
        step_time(small_run(), SHAPE, replace(NODE, card=small), WORK)


def test_cards_that_do_not_fill_nodes_are_refused() -> None:
    with pytest.raises(UserError, match="12 cards do not fill nodes of 8"):
        machine_of(TrainConfig(), 12, H100, RATIOS)
    sets = {"openrlhf": {"gpus_per_node": 4}}
    assert machine_of(check_config(sets), 12, H100, RATIOS).layout.nodes == 3
    lonely = H100.model_copy(update={"network": 0.0})
    with pytest.raises(UserError, match="no network speed"):
        machine_of(TrainConfig(), 16, lonely, RATIOS)


def test_a_file_adds_cards_and_replaces_ours(tmp_path: Path) -> None:
    file = tmp_path / "cards.yaml"
    file.write_text(
        "h100: {flops: 1.0, bandwidth: 2.0, source: mine}\nb300: {flops: 3.0, bandwidth: 4.0, source: it}\n"
    )
    cards = load_cards(file)
    assert (cards["h100"].flops, cards["b300"].bandwidth) == (1.0, 4.0)
    assert cards["a100"] == load_cards()["a100"]


def test_every_mistake_in_a_file_of_cards_is_said(tmp_path: Path) -> None:
    file = tmp_path / "cards.yaml"
    file.write_text("mine: {flops: -1.0, bandwith: 2.0, source: x}\n")
    with pytest.raises(UserError, match=r"(?s)mine\.flops.*mine\.bandwi"):
        load_cards(file)
    with pytest.raises(UserError, match=r"unknown card 'h101' \(did you mean 'h100'\?\)"):
        find_card("h101")


def test_every_card_of_ours_says_where_its_figures_are_from() -> None:
    for card in load_cards().values():
        assert card.source and card.price is not None and "20" in card.priced


def test_lengths_have_the_stated_mean_and_are_cut_at_the_limit() -> None:
    lengths = LogNormal(400.0, 300.0, "test").draw(20_000, 100_000)
    assert sum(lengths) / len(lengths) == pytest.approx(400, rel=0.02)
    assert max(LogNormal(400.0, 300.0, "test").draw(100, 256)) == 256
    with pytest.raises(UserError, match="do not exist"):
        LogNormal(-1.0, 3.0, "test")


def test_recorded_lengths_keep_their_distribution(tmp_path: Path) -> None:
    assert Recorded([10, 30, 20], "test").draw(6, 25) == [10, 10, 20, 20, 25, 25]
    with pytest.raises(UserError, match="no rollouts there"):
        recorded_in(tmp_path)


def test_measured_shares_take_the_place_of_stated_ones(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    proof.write_text(
        '{"ratios": {"update_flops": 0.5}, "card": {"flops": 9e14, "bandwidth": 3e12, "memory": 8e10, "source": "test"}}'
    )
    peaks, shares = read_measured(proof)
    ratios = RATIOS.taking(shares, "here")
    assert (ratios.update_flops.value, ratios.update_flops.source) == (0.5, "here")
    assert ratios.score_flops == RATIOS.score_flops
    assert H100.model_copy(update=peaks).flops == 9e14
    proof.write_text('{"ratios": {}, "card": null}')
    with pytest.raises(UserError, match="holds no measured card"):
        read_measured(proof)
    proof.write_text('{"ratios": {}, "card": {"flops": 1.0, "bandwidth": 1.0, "source": "a CPU"}}')
    with pytest.raises(UserError, match="made on a CPU"):
        read_measured(proof)


def test_a_share_that_there_is_not_is_refused() -> None:
    with pytest.raises(UserError, match="update_flop"):
        RATIOS.taking({"update_flop": 0.3}, "test")


def test_published_runs_are_planned_with_the_same_model() -> None:
    found = {c.run.name: c.factor for c in compare(RATIOS)}
    assert len(found) == len(evidence().published) >= 3
    assert all(0.5 < factor < 10 for factor in found.values())  # else a unit is wrong


def test_the_measured_steps_name_three_models_and_every_stage() -> None:
    measured = evidence().measured
    assert len({m.parameters for m in measured}) == 3
    assert {m.stage for m in measured} == {
        "sampling",
        "reference",
        "gradients",
        "optimizer",
        "step",
    }


def test_one_card_has_no_others_to_talk_to() -> None:
    alone = Card(flops=1e14, bandwidth=1e12, source="test")
    machine = machine_of(TrainConfig(), 1, alone, RATIOS)
    stages = step_time(small_run(), SHAPE, machine, WORK).stages
    moved = SHAPE.parameters * 28 / (1e12 * 0.6)
    assert stages.optimizer == pytest.approx(moved * TrainConfig().loss.mini_batches)
