from __future__ import annotations

from pathlib import Path

import pytest

from prorl_common import Door
from prorl_common.config import ConfigError, apply_overrides
from prorl_training import PolicyLossSpec
from prorl_training.config.loading import check_config, load_config, load_saved_config, save_config
from prorl_training.config.presets import preset_names
from prorl_training.spec import check_part_options


def test_file_overrides_preset_and_set_overrides_file(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("preset: cpu\nsteps: 7\nrollout: {samples: 4}\n")
    config = load_config(None, file, ["rollout.samples=6"])
    assert (config.preset, config.steps, config.rollout.samples) == ("cpu", 7, 6)
    assert config.rollout.prompts == load_config("cpu").rollout.prompts


def test_numbers_in_scientific_notation_are_numbers() -> None:
    assert load_config("cpu", None, ["optimizer.lr=1e-5"]).optimizer.lr == 1e-5


def test_more_mini_batches_than_prompts_is_refused() -> None:
    with pytest.raises(ConfigError, match="mini_batches"):
        load_config("cpu", None, ["rollout.prompts=2", "loss.mini_batches=3"])


def test_faithful_rewards_use_the_graders_of_the_paper_and_single_modes_go_first() -> None:
    assert load_config("cpu", None, []).reward.verifier_modes() == {}
    faithful = load_config("prorl-v2", None, []).reward
    assert faithful.verifier_modes() == {"math": "either", "logic": "reference"}
    mixed = load_config("prorl-v2", None, ["reward.modes={math: ours}"])
    assert mixed.reward.verifier_modes() == {"math": "ours", "logic": "reference"}


def test_a_mode_that_no_verifier_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown mode 'strict' of math"):
        load_config("cpu", None, ["reward.modes={math: strict}"])
    with pytest.raises(ConfigError, match="unknown verifier 'maths'"):
        load_config("cpu", None, ["reward.modes={maths: ours}"])


@pytest.mark.parametrize("name", preset_names())
def test_a_saved_config_of_every_preset_loads_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    config = load_config(name, None, ["optimizer.lr=1.2345678901234567e-7"])
    save_config(config, tmp_path / "config.yaml")
    text = (tmp_path / "config.yaml").read_bytes()
    again = load_saved_config(tmp_path / "config.yaml")
    assert again == config and again.model_dump() == config.model_dump()
    save_config(again, tmp_path / "config.yaml")
    assert (tmp_path / "config.yaml").read_bytes() == text


def test_a_run_with_a_setting_that_is_gone_still_loads(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    save_config(load_config("prorl-v2"), path)
    kept = path.read_text()
    path.write_text(kept.replace("openrlhf:\n", "openrlhf:\n  cpu_slots: 3\n"))
    assert path.read_text() != kept
    assert load_saved_config(path) == load_config("prorl-v2")


@pytest.mark.parametrize("text", ["off", "1e5", "010", "null", "2026-11-21", "=", "<<", "a: b # c"])
def test_text_that_looks_like_something_else_survives_saving(text: str, tmp_path: Path) -> None:
    config = check_config({"logging": {"wandb_project": text}})
    save_config(config, tmp_path / "config.yaml")
    assert load_saved_config(tmp_path / "config.yaml").logging.wandb_project == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1: 3\n", "the key 1 is not text"),
        ("- 1\n", "expected a mapping"),
        ("", "expected a mapping"),
        ("data: &x {domain_weights: *x}\n", "JSON cannot represent"),
        ("a: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
        ("steps: !!binary aGk=\n", "JSON cannot represent"),
        ("extends: cpu\n", "'extends' is for presets"),
        ("preset: [cpu]\n", "unknown preset"),
    ],
)
def test_a_file_that_is_no_config_is_refused_in_one_line(
    text: str, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=why) as caught:
        load_config(None, file)
    assert "\n" not in str(caught.value)


def test_weights_in_flight_need_a_sampler_that_is_ahead() -> None:
    with pytest.raises(
        ConfigError,
        match=r"new_weights=token has no effect without staleness: set staleness=1 or more",
    ):
        load_config("cpu", None, ["rollout.new_weights=token"])


def test_off_is_text_and_no_still_switches_a_switch_off(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("preset: cpu\nstop_properly: {mode: off}\noptimizer: {lr: 1e-7}\n")
    config = load_config(None, file, ["logging.wandb=off", "checkpoint.best=no"])
    assert (config.stop_properly.mode, config.logging.wandb) == ("off", "off")
    assert config.checkpoint.best is False
    assert config.optimizer.lr == 1e-7


def test_leading_zeros_do_not_make_a_number_octal() -> None:
    assert load_config("cpu", None, ["rollout.samples=010"]).rollout.samples == 10


def test_set_reaches_a_phase_by_number_and_by_name() -> None:
    over = ["phases.0.steps=7", "phases.run-8.steps=9", "phases.run-8.set.rollout.samples=4"]
    config = load_config("prorl-v1", None, over)
    assert (config.phases[0].steps, config.phases[7].steps) == (7, 9)
    assert config.in_phase(7).rollout.samples == 4
    assert config.in_phase(7).rollout.max_tokens == 16384
    assert load_config("prorl-v1").phases[0].steps == 500


@pytest.mark.parametrize("where", ["phases.8.steps", "phases.-1.steps", "phases.run-9.steps"])
def test_a_phase_that_does_not_exist_is_one_line_naming_those_that_do(where: str) -> None:
    with pytest.raises(ConfigError, match=r"does not exist.*there are 0 \(run-1\)") as caught:
        load_config("prorl-v1", None, [f"{where}=3"])
    assert "\n" not in str(caught.value)


def test_a_phase_of_a_config_without_phases_says_so() -> None:
    with pytest.raises(ConfigError, match=r"phases\.0\.steps does not exist: phases is empty"):
        load_config("cpu", None, ["phases.0.steps=3"])
    with pytest.raises(ConfigError, match=r"phases is empty"):
        load_config("prorl-v1", None, ["phases=[]", "phases.0.steps=3"])


def test_set_into_a_plain_value_says_that_it_is_no_section() -> None:
    with pytest.raises(ConfigError, match=r"steps\.x does not exist: steps is a value"):
        load_config("cpu", None, ["steps.x=3"])


def test_one_domain_weight_is_set_beside_the_others() -> None:
    weights = load_config("prorl-v1", None, ["data.domain_weights.math=2"]).data.domain_weights
    assert weights == {"math": 2, "code": 24, "stem": 25, "logic": 37, "instruction": 10}


def test_a_file_replaces_the_whole_mix_and_can_empty_it(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("preset: prorl-v1\ndata: {domain_weights: {math: 1}}\n")
    assert load_config(None, file).data.domain_weights == {"math": 1}
    file.write_text("preset: prorl-v1\ndata: {domain_weights: {}}\n")
    assert load_config(None, file).data.domain_weights == {}


def test_unknown_keys_in_a_phase_are_named_with_their_whole_path() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(
            "prorl-v1",
            None,
            [
                "phases.3.set.stop_properly.valu=2",
                "phases.1.set.rolout.samples=2",
                "phases.1.stepz=3",
            ],
        )
    message = str(caught.value)
    assert (
        "'phases.3.set.stop_properly.valu' (did you mean 'phases.3.set.stop_properly.value'?)"
        in message
    )
    assert "'phases.1.set.rolout' (did you mean 'phases.1.set.rollout'?)" in message
    assert "'phases.1.stepz' (did you mean 'phases.1.steps'?)" in message
    assert "3 settings are wrong" in message


def test_wrong_values_in_several_phases_and_outside_come_in_one_message() -> None:
    over = ["phases.0.set.rollout.samples=1", "phases.2.set.kl.estimator=k9", "rollout.prompts=0"]
    with pytest.raises(ConfigError, match="3 settings are wrong") as caught:
        load_config("prorl-v1", None, over)
    message = str(caught.value)
    for path in ("phases.0.set.rollout.samples:", "phases.2.set.kl.estimator:", "rollout.prompts:"):
        assert path in message
    assert message.count("\n") == 3


@pytest.mark.parametrize(
    "path",
    [
        "model.path",
        "data.path",
        "rollout.backend",
        "rollout.batch_rows",
        "rollout.batching",
        "seed",
    ],
)
def test_what_cannot_change_during_a_run_is_refused_in_a_phase(path: str) -> None:
    with pytest.raises(ConfigError, match=rf"phases\.1\.set\.{path.split('.')[0]}.* cannot change"):
        load_config("prorl-v1", None, [f"phases.1.set.{path}=vllm"])


BEST = ["controller.reset_to=best", "checkpoint.best=false"]


def test_resets_to_the_best_checkpoint_need_it_kept() -> None:
    with pytest.raises(ConfigError, match=r"set checkpoint\.best=true, or") as caught:
        load_config("cpu", None, BEST)
    assert "\n" not in str(caught.value)
    assert load_config("cpu", None, BEST[:1]).checkpoint.best


def test_resets_to_the_best_checkpoint_need_it_kept_in_a_phase_too() -> None:
    late = ["phases.1.set.controller.reset_to=best", BEST[1]]
    with pytest.raises(ConfigError, match=r"phases\.1.*set checkpoint\.best=true"):
        load_config("prorl-v1", None, late)
    assert not load_config("prorl-v1", None, BEST[1:]).checkpoint.best


def test_a_phase_that_does_not_fit_as_a_whole_is_named() -> None:
    with pytest.raises(ConfigError, match=r"phases\.0: loss\.mini_batches \(1000\) is larger"):
        load_config("prorl-v1", None, ["phases.0.set.loss.mini_batches=1000"])


def test_a_part_of_a_subsection_in_a_phase_keeps_the_rest() -> None:
    config = check_config(
        {
            "loss": {"mismatch": {"correction": "icepop", "high": 4.0}},
            "phases": [{"name": "a", "steps": 1, "set": {"loss": {"mismatch": {"low": 0.25}}}}],
        }
    )
    mismatch = config.in_phase(0).loss.mismatch
    assert (mismatch.correction, mismatch.low, mismatch.high) == ("icepop", 0.25, 4.0)


def test_numbers_that_are_not_finite_are_refused_in_a_phase() -> None:
    with pytest.raises(ConfigError, match=r"phases\.0\.set\.kl\.coefficient: must be a finite"):
        load_config("prorl-v1", None, ["phases.0.set.kl.coefficient=.inf"])


def test_wrong_types_are_said_in_words() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("cpu", None, ["rollout=3", "phases=4", "seed=1.5", "model.path=123"])
    message = str(caught.value)
    assert "rollout: expected a mapping of settings (got 3)" in message
    assert "phases: expected a list (got 4)" in message
    assert "seed: " in message and "model.path: " in message


def test_a_key_of_another_section_is_offered_with_its_section() -> None:
    with pytest.raises(ConfigError, match=r"'samples' \(did you mean 'rollout.samples' or"):
        load_config("cpu", None, ["samples=3"])


@pytest.mark.parametrize("key", ["preset", "extends"])
def test_the_preset_is_not_chosen_with_set(key: str) -> None:
    with pytest.raises(ConfigError, match="choose the preset with --preset"):
        load_config("cpu", None, [f"{key}=quickstart"])


def test_a_later_override_wins_and_the_values_given_stay_as_they_were() -> None:
    values = {"kl": {"coefficient": 1.0}, "phases": [{"name": "a", "steps": 1}]}
    result, complaints = apply_overrides(
        values, ["kl.coefficient=2", "kl.coefficient=3", "phases.a.steps=5"]
    )
    assert result == {"kl": {"coefficient": 3}, "phases": [{"name": "a", "steps": 5}]}
    assert complaints == []
    assert values == {"kl": {"coefficient": 1.0}, "phases": [{"name": "a", "steps": 1}]}


def test_options_of_a_part_that_needs_torch_ask_for_it_in_one_line_where_it_is_missing() -> None:
    class NeedsTorch(Door[PolicyLossSpec]):
        def get(self, name: str) -> PolicyLossSpec:
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

    door = NeedsTorch("prorl.objectives", PolicyLossSpec, "policy loss")
    check_part_options(door, "clip", {})
    with pytest.raises(ValueError, match=r"this needs torch.*prorl\[local\]"):
        check_part_options(door, "clip", {"x": 1})


def test_the_config_of_a_run_that_awaited_rounds_still_loads(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    save_config(load_config("cpu"), path)
    text = path.read_text()
    path.write_text(text.replace("max_batches: 10", "max_rounds: 4").replace("  late: wait\n", ""))
    assert "max_rounds: 4" in path.read_text()
    sampling = load_saved_config(path).dynamic_sampling
    assert (sampling.max_batches, sampling.late) == (4, "wait")
