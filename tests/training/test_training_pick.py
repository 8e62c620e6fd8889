from __future__ import annotations

from pathlib import Path

import pytest

from prorl_training.config.loading import load_config
from prorl_training.engine.start import EngineChoice, Machine, Start, new_run, pick_engine

EIGHT = Machine(8)
NO_STACK = Machine(8, "openrlhf is not installed")


def start(machine: Machine, *settings: str, preset: str = "prorl-v2") -> Start:
    return new_run(preset, None, settings, "one", lambda: machine)


def picked(machine: Machine, *settings: str, preset: str = "prorl-v2") -> EngineChoice:
    return pick_engine(lambda more: load_config(preset, None, [*settings, *more]), lambda: machine)


def test_several_gpus_and_the_stack_take_openrlhf_on_all_of_them_and_say_so() -> None:
    found = start(Machine(4))
    assert found.config.engine == "openrlhf" and found.config.openrlhf.gpus_per_node == 4
    assert (
        found.chosen
        == "openrlhf, because its packages and 4 GPUs are available; --engine local overrides"
    )


@pytest.mark.parametrize("preset", ["prorl-v1", "prorl-v2", "prorl-3k", "prorl-v2-official"])
def test_the_full_size_presets_run_on_eight_gpus_as_they_are(preset: str) -> None:
    config = start(EIGHT, preset=preset).config
    assert {settings.engine for settings in config.phase_configs} == {"openrlhf"}


def test_an_engine_that_is_named_is_taken_and_nobody_looks() -> None:
    def look() -> Machine:
        raise AssertionError("looked")

    for engine in ("local", "openrlhf"):
        found = new_run("prorl-v2", None, [f"engine={engine}"], "one", look)
        assert (found.config.engine, found.chosen) == (engine, "")


def test_an_engine_in_a_file_is_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("preset: prorl-v2\nengine: local\n")
    found = new_run(None, tmp_path / "own.yaml", [], "one", lambda: EIGHT)
    assert (found.config.engine, found.chosen) == ("local", "")


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_machine_with_one_gpu_or_none_stays_local_without_a_word(gpus: int) -> None:
    found = start(Machine(gpus))
    assert (found.config.engine, found.chosen) == ("local", "")


def test_several_gpus_without_the_stack_stay_local_with_how_to_get_it() -> None:
    assert picked(NO_STACK).settings == ()
    assert picked(NO_STACK).message == "local, on one of 8 GPUs; for all: --gpus 8"


def test_what_openrlhf_cannot_do_stays_local_with_the_reason() -> None:
    said = picked(EIGHT, "model.lora.rank=8").message
    assert said.startswith(
        "local, on one of 8 GPUs (for all: --gpus 8); openrlhf does not support model.lora.rank=8: "
    )


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_a_device_that_is_named_is_the_local_engines(device: str) -> None:
    assert picked(EIGHT, f"model.device={device}") == EngineChoice()


def test_as_many_gpus_are_taken_as_the_batch_divides_among() -> None:
    choice = picked(Machine(6))
    assert choice.settings == ("engine=openrlhf", "openrlhf.gpus_per_node=4")
    assert "4 of 6 GPUs" in choice.message


def test_gpus_that_the_config_names_are_left_as_they_are() -> None:
    assert picked(EIGHT, "openrlhf.gpus_per_node=2").settings == ("engine=openrlhf",)


def test_a_run_whose_stages_name_engines_is_left_alone() -> None:
    assert picked(EIGHT, "stages.prorl-v2.engine=openrlhf", preset="prorl-3k") == EngineChoice()
