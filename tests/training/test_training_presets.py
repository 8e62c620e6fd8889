from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from prorl_common.config import ConfigError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.presets import (
    default_sources,
    first_sentence,
    leaf_values,
    preset_description,
    preset_names,
    preset_notes,
    preset_parent,
    preset_sources,
    preset_text,
    resolve_preset,
    sourced_defaults,
    value_sources,
)
from prorl_training.config.tree import all_keys
from prorl_training.run.resume import ALLOWED
from prorl_training.schedule.simulate import simulate

ROOT = Path(__file__).resolve().parents[2]

SOURCE = re.compile(
    r"\b(v1 ([23]\.\d|[DE]\b|has|figure|table)|post\b|OpenRLHF|NeMo-RL|BroRL|JustRL|DLER|verl|v2|ours)"
)
"""A valid source: a publication with its place, a code base, another preset, or "ours"."""

KEY_NUMBERS = {
    "prorl-v1": """
        loss.clip_low=0.2 loss.clip_high=0.4 rollout.prompts=256 rollout.samples=16
        rollout.temperature=1.2 rollout.max_tokens=8192 loss.mini_batches=4 optimizer.lr=2e-06
        optimizer.schedule=constant advantage.estimator=grpo controller.optimizer=clear
        controller.reset_interval=0 dynamic_sampling.enabled=true loss.mismatch.correction=tis
        reward.faithful=true rollout.max_prompt_tokens=1024
    """,
    "prorl-v2": """
        steps=3000 loss.clip_low=0.2 loss.clip_high=0.28 advantage.estimator=reinforce_baseline
        advantage.normalise=trajectory kl.estimator=k2 kl.clamp=input kl.clamp_value=10.0
        kl.coefficient=0.0001 length_penalty.form=printed length_penalty.steps_on=100
        length_penalty.steps_off=500 controller.optimizer=keep controller.reset_interval=300
        loss.mismatch.correction=tis loss.mismatch.low=0.0 loss.mismatch.high=2.0
        reward.faithful=true rollout.max_prompt_tokens=1024 model.gradient_checkpointing=true
        loss.dual_clip=0.0 rollout.top_p=1.0 advantage.eps=1e-08 dynamic_sampling.max_batches=10
        dynamic_sampling.late=carry optimizer.beta1=0.9 optimizer.beta2=0.95
        optimizer.weight_decay=0.0 optimizer.grad_clip=1.0 validation.temperature=0.6
        validation.top_p=0.95
    """,
    "prorl-3k": "steps=3000 reward.faithful=true loss.mismatch.correction=tis",
    "prorl-v2-official": """
        loss.clip_low=0.2 loss.clip_high=0.27 advantage.normalise=token kl.estimator=k2
        kl.clamp=output kl.clamp_value=10.0 kl.coefficient=0.0001
        loss.mismatch.correction=icepop loss.mismatch.low=0.5 loss.mismatch.high=5.0
        stop_properly.mode=scale stop_properly.value=0.0 optimizer.lr=1e-06 rollout.prompts=512
        rollout.samples=16 rollout.temperature=1.0 rollout.max_tokens=8192 loss.mini_batches=8
        dynamic_sampling.rule=open_interval controller.reset_interval=0
        length_penalty.weight=0.0 validation.every=5 validation.samples=4
        validation.temperature=1.0 openrlhf.zero_stage=3
    """,
    "prorl-v2.1": """
        loss.on_policy_ratio=true loss.mini_batches=1 loss.mismatch.correction=sequence_mask
        loss.mismatch.low=0.999 loss.mismatch.high=1.002 dynamic_sampling.enabled=false
        kl.clamp=both kl.input_clamp_value=20.0 kl.clamp_value=10.0
    """,
    "brorl": """
        steps=191 rollout.prompts=128 rollout.samples=512 rollout.max_tokens=16384
        loss.mismatch.correction=tis dynamic_sampling.rule=correct_count
    """,
    "prorl-4b": """
        model.path=Qwen/Qwen3-4B-Instruct-2507 steps=3000 advantage.estimator=reinforce_baseline
    """,
    "justrl": """
        steps=4380 advantage.estimator=grpo loss.clip_low=0.2 loss.clip_high=0.28
        rollout.samples=8 rollout.temperature=1.0 rollout.max_tokens=15360 optimizer.lr=1e-06
        kl.coefficient=0.0 controller.reset_interval=0 controller.kl_zscore=0.0
        controller.stall_validations=0 dynamic_sampling.enabled=false length_penalty.steps_on=0
    """,
    "dler": """
        advantage.estimator=reinforce_baseline loss.clip_high=0.28 dynamic_sampling.enabled=true
        stop_properly.mode=scale stop_properly.value=0.0 rollout.max_tokens=4000
        kl.coefficient=0.0005 dynamic_sampling.oversample=1.5
    """,
    "no-reset": """
        controller.reset_interval=0 controller.kl_zscore=0.0 controller.kl_threshold=0.0
        controller.stall_validations=0
    """,
    "no-kl": "kl.coefficient=0.0 controller.reset_interval=0",
    "no-length": "length_penalty.weight=0.0 length_penalty.steps_on=0",
    "cpu": "steps=3000 rollout.max_tokens=64 optimizer.lr=1e-05",
    "quickstart": """
        steps=12 dynamic_sampling.surplus=drop dynamic_sampling.max_batches=1
        checkpoint.best=false
    """,
}
"""Settings of each preset as published."""


def at(config: TrainConfig, path: str) -> object:
    value: object = config
    for key in path.split("."):
        value = getattr(value, key)
    return value


@pytest.mark.parametrize("name", preset_names())
def test_every_value_of_every_preset_names_its_source(name: str) -> None:
    sources = value_sources(preset_text(name))
    bare = {
        ".".join(path): source
        for path, source in sources.items()
        if not SOURCE.search(source) and path[-1] != "name"
    }
    assert sources and bare == {}


@pytest.mark.parametrize("name", preset_names())
def test_sources_are_found_for_exactly_the_values_that_a_preset_sets(name: str) -> None:
    chain, parent = {}, name
    while parent:
        chain[parent] = preset_text(parent)
        parent = preset_parent(chain[parent]) or ""
    assert set(leaf_values(resolve_preset(name, chain))) == set(preset_sources(name))


def test_a_value_without_a_comment_has_no_source() -> None:
    text = "# header\n\nsteps: 3\nkl:\n  # post\n  coefficient: 1.0\n  clamp_value: 2.0  # ours\n"
    assert value_sources(text) == {
        ("steps",): "",
        ("kl", "coefficient"): "post",
        ("kl", "clamp_value"): "ours",
    }


def test_the_table_covers_every_preset() -> None:
    assert sorted(KEY_NUMBERS) == preset_names()


@pytest.mark.parametrize("name", sorted(KEY_NUMBERS))
def test_key_numbers_are_the_published_ones(name: str) -> None:
    assert load_config(name, None, KEY_NUMBERS[name].split()) == load_config(name)


@pytest.mark.parametrize("name", preset_names())
def test_every_phase_of_every_preset_is_a_whole_config(name: str) -> None:
    config = load_config(name)
    for phase in config.phase_configs:
        assert phase.phases == ()
        assert TrainConfig.model_validate(phase.model_dump()) == phase


def test_the_runs_of_v1_are_its_eight_phases_and_sum_to_its_steps() -> None:
    config = load_config("prorl-v1")
    assert [phase.name for phase in config.phases] == [f"run-{n}" for n in range(1, 9)]
    assert sum(phase.steps for phase in config.phases) == config.steps == 2450
    assert config.phases[7].steps == 200
    assert [p.name for p in config.phases if p.reset] == ["run-2", "run-6", "run-7"]
    assert [p.name for p in config.phases if p.until == "stall"] == ["run-1", "run-5", "run-6"]
    in_phase = [config.in_phase(n) for n in range(8)]
    assert [p.rollout.samples for p in in_phase] == [16, 16, 16, 16, 16, 32, 32, 16]
    assert [p.rollout.max_tokens for p in in_phase] == [8192] * 7 + [16384]
    assert [p.stop_properly.mode for p in in_phase] == ["off"] * 3 + ["scale"] * 5
    instruction = [p.data.domain_weights["instruction"] for p in in_phase]
    assert instruction[:2] == [0, 0] and all(weight > 0 for weight in instruction[2:])
    assert all(p.data.domain_weights["math"] == 40 for p in in_phase)


def test_brorl_scales_the_rate_by_the_root_of_the_batch() -> None:
    brorl, v2 = load_config("brorl"), load_config("prorl-v2")
    grown = brorl.rollout.prompts * brorl.rollout.samples / (512 * 16)
    assert brorl.optimizer.lr == pytest.approx(v2.optimizer.lr * math.sqrt(grown), rel=1e-6)


def test_official_updates_hold_1024_responses() -> None:
    config = load_config("prorl-v2-official")
    assert config.rollout.prompts * config.rollout.samples / config.loss.mini_batches == 1024
    updates = config.steps * config.loss.mini_batches
    assert config.optimizer.warmup_updates == round(0.03 * updates)


def test_warm_up_of_v2_1_is_the_same_share_of_its_own_updates() -> None:
    config = load_config("prorl-v2.1")
    assert config.optimizer.warmup_updates == round(0.03 * config.steps * config.loss.mini_batches)


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("no-reset", {"controller"}),
        ("no-kl", {"kl", "controller"}),
        ("no-length", {"length_penalty"}),
    ],
)
def test_an_ablation_differs_from_v2_in_its_part_only(name: str, sections: set[str]) -> None:
    ablation, v2 = load_config(name).model_dump(), load_config("prorl-v2").model_dump()
    assert {key for key in v2 if ablation[key] != v2[key]} == {"preset", *sections}


def test_presets_that_extend_in_a_circle_are_refused() -> None:
    texts = {"a": "extends: b\n", "b": "extends: c\n", "c": "extends: a\n"}
    with pytest.raises(ConfigError, match="circle: a > b > c > a"):
        resolve_preset("a", texts)
    with pytest.raises(ConfigError, match="circle: d > d"):
        resolve_preset("d", {"d": "extends: d\n"})


def test_first_sentence_does_not_end_inside_a_number() -> None:
    assert first_sentence("Clip 0.2/0.28, as in v2.1. More follows.") == "Clip 0.2/0.28, as in v2.1"
    assert first_sentence("no stop") == "no stop"


def test_a_preset_is_described_by_its_first_sentence_and_its_notes_are_the_paragraphs_after_it() -> (
    None
):
    assert preset_description("prorl-v1").startswith("ProRL v1 (arXiv 2505.24864): GRPO")
    assert preset_notes("dler").startswith("DLER = the paper; DLER script = ")
    assert "steps:" not in preset_notes("dler")
    assert preset_notes("no-kl") == ""


def test_an_unknown_parent_is_one_line_that_names_both() -> None:
    with pytest.raises(
        ConfigError, match=r"preset 'mine' extends 'prorl-v3' \(did you mean 'prorl-v2'"
    ):
        resolve_preset("mine", {"mine": "extends: prorl-v3\n", "prorl-v2": "steps: 1\n"})
    with pytest.raises(ConfigError, match=r"extends '\['prorl-v2'\]'"):
        resolve_preset("mine", {"mine": "extends: [prorl-v2]\n", "prorl-v2": "steps: 1\n"})


def test_a_childs_values_lie_over_its_parents_and_grandparents() -> None:
    texts = {
        "old": "steps: 1\nkl: {coefficient: 1.0, clamp: none}\ndata: {domain_weights: {math: 1}}\n",
        "mid": "extends: old\nkl: {coefficient: 2.0}\n",
        "new": "extends: mid\nsteps: 3\ndata: {domain_weights: {code: 1}}\n",
    }
    assert resolve_preset("new", texts) == {
        "steps": 3,
        "kl": {"coefficient": 2.0, "clamp": "none"},
        "data": {"domain_weights": {"code": 1}},
    }


def test_the_command_lines_on_the_presets_page_load() -> None:
    text = (ROOT / "docs" / "reference" / "presets.md").read_text("utf-8").replace("\n", " ")
    settings = re.findall(r"--set '?([\w.]+=(?:\{[^}]*\}|[\w.]+))", text)
    assert len(settings) >= 6
    load_config("prorl-v2-official", None, settings)


def kinds(name: str, steps: int) -> list[tuple[int, str]]:
    """Return (step, kind) of a preset's decisions in the first steps of a run without trouble."""
    return [(d.step, str(d.kind)) for d in simulate(load_config(name), steps)]


@pytest.mark.parametrize("name", ["brorl", "justrl", "dler", "prorl-v2-official", "prorl-v2.1"])
def test_presets_without_resets_and_penalty_decide_nothing_in_a_calm_run(name: str) -> None:
    assert kinds(name, 700) == []


def test_the_ablations_leave_out_their_part_of_the_schedule() -> None:
    assert (300, "reference_reset") in kinds("prorl-v2", 700)
    assert (401, "penalty_window_opened") in kinds("prorl-v2", 700)
    assert {kind for _, kind in kinds("no-reset", 700)} == {
        "penalty_window_opened",
        "penalty_window_closed",
    }
    assert {kind for _, kind in kinds("no-length", 700)} == {"reference_reset"}


def test_a_calm_run_of_v1_goes_through_its_phases_by_their_lengths() -> None:
    started = [step for step, kind in kinds("prorl-v1", 2450) if kind == "phase_started"]
    assert started == [1, 501, 751, 1151, 1401, 1651, 1951, 2251]
    resets = [step for step, kind in kinds("prorl-v1", 2450) if kind == "reference_reset"]
    assert resets == [501, 1651, 1951]


FAITHFUL = ("prorl-v1", "prorl-v2", "prorl-v2-official", "prorl-v2.1", "brorl", "justrl", "dler")
"""The presets that follow a publication or its code."""

SAYS_WHERE = re.compile(rf"{SOURCE.pattern}|\b(off\b|TRL\b|Yeo et al\.|DAPO\b|without effect)")
"""A valid source of a default: also that it is off, or a publication without a preset."""


def changes_what_is_computed(key: str) -> bool:
    """Return whether a setting affects a run's results: not layouts of GPUs or settings that may change on resuming."""
    free = any(key.startswith(n) if n.endswith(".") else key == n for n in ALLOWED)
    section = key.partition(".")[0]
    return not free and section not in ("openrlhf", "preset", "seed", "engine", "phases", "stages")


@pytest.mark.parametrize("name", FAITHFUL)
def test_every_value_that_a_faithful_preset_sets_or_inherits_has_a_source(name: str) -> None:
    sources = {**default_sources(), **preset_sources(name)}
    keys = {
        ".".join(path): source
        for path, source in sources.items()
        if path[0] not in ("phases", "stages")
    }
    domains = {"data.domain_weights": keys.get("data.domain_weights.math", "")}  # its own value
    without = [
        key
        for key in all_keys()
        if changes_what_is_computed(key)
        and not SAYS_WHERE.search(keys.get(key) or domains.get(key, ""))
    ]
    assert without == [], "say where these come from: in the preset, or in config/defaults.yaml"


def test_the_sourced_defaults_are_the_defaults_of_the_tree() -> None:
    tree = TrainConfig()
    for path, value in sourced_defaults().items():
        assert at(tree, ".".join(path)) == value, path
    assert all(SAYS_WHERE.search(source) for source in default_sources().values())
