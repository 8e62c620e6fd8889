from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.presets import preset_names
from prorl_training.planning.fit import advice, check_fit, gpu_hours, main_memory, misfit, reckon
from prorl_training.planning.memory import GB, ITEMS, Fit
from prorl_training.planning.model_shape import KNOWN, model_shape

SMALL = ("cpu", "quickstart")
NOT_RECOMPUTED = "model.gradient_checkpointing=false"
SEVEN = "model.path=deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"


def fit_of(preset: str, gigabytes: float, *over: str) -> Fit:
    config = load_config(preset, None, over)
    return reckon(config, model_shape(config.model.path), "cuda", int(gigabytes * GB))


def advised(fit: Fit) -> list[str] | None:
    return advice(fit, model_shape(fit.config.model.path))


@pytest.mark.parametrize("engine", ["local", "openrlhf"])
@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_fits_the_gpu_that_it_names(preset: str, engine: str) -> None:
    config = load_config(preset)
    assert config.model.gpu_gb == (24 if preset in SMALL else {"prorl-4b": 141}.get(preset, 80))
    fit = fit_of(preset, config.model.gpu_gb, f"engine={engine}")
    assert fit.fits, misfit(fit, model_shape(config.model.path))
    assert advised(fit) == []


def test_v2_fits_80_gb_only_with_recomputed_activations() -> None:
    fit = fit_of("prorl-v2", 80, NOT_RECOMPUTED)
    assert advised(fit) == ["model.gradient_checkpointing=true"]
    line = misfit(fit, model_shape(fit.config.model.path))
    assert "its update needs 109 GB (activations 5" in line
    assert line.endswith("; it fits with --set model.gradient_checkpointing=true")


@pytest.mark.parametrize(
    ("gigabytes", "over"),
    [
        (24, ["engine=local"]),
        (40, ["engine=local"]),
        (40, ["engine=openrlhf", "openrlhf.gpus_per_node=1"]),
        (80, ["engine=openrlhf", SEVEN]),
        (80, ["engine=openrlhf", SEVEN, NOT_RECOMPUTED]),
        (80, ["engine=openrlhf", SEVEN, "openrlhf.colocate=false", NOT_RECOMPUTED]),
        (80, ["engine=local", NOT_RECOMPUTED, "rollout.backend=transformers"]),
    ],
)
def test_what_is_advised_fits_and_nothing_of_it_is_too_much(
    gigabytes: float, over: list[str]
) -> None:
    fit = fit_of("prorl-v2", gigabytes, *over)
    found = advised(fit)
    assert not fit.fits and found
    assert fit_of("prorl-v2", gigabytes, *over, *found).fits
    for left_out in found:
        rest = [setting for setting in found if setting != left_out]
        assert not fit_of("prorl-v2", gigabytes, *over, *rest).fits, left_out


def test_hours_are_those_of_each_path_and_old_log_probs_cost_the_cluster_engine_more() -> None:
    config = load_config("prorl-v2", None, ["model.gpus=4"])
    one, several, cluster = gpu_hours(config, model_shape(config.model.path))
    paths = [(path.engine, path.gpus) for path in (one, several, cluster)]
    assert paths == [("local", 1), ("local", 4), ("openrlhf", 4)]
    assert (one.low, one.high) == (several.low, several.high)
    assert 1 < cluster.low / one.low < 1.1
    assert 3000 < one.low < one.high < 20_000


def test_sharding_divides_what_a_rank_holds() -> None:
    whole, shard = (
        fit_of("prorl-v2", 80, "engine=local", "model.gpus=4", f"model.sharding={sharding}")
        for sharding in ("none", "fsdp")
    )
    for item in ("optimiser", "reference", "gradients"):
        assert shard.phases[0].stages[-1].items[item] == whole.phases[0].stages[-1].items[item] // 4


def test_where_no_setting_helps_that_is_said() -> None:
    fit = fit_of("prorl-v2", 16, "engine=local", SEVEN)
    assert advised(fit) is None
    assert misfit(fit, model_shape(SEVEN.partition("=")[2])).endswith("or a smaller model")


def test_a_cache_that_holds_no_sequence_is_found_though_the_total_fits() -> None:
    fit = fit_of("prorl-v2", 80, "rollout.vllm_memory=0.1")
    assert fit.needed < fit.memory and not fit.fits
    assert "too small for one sequence of 131072 tokens" in fit.phases[0].troubles[0]


def test_each_phase_is_reckoned_with_its_own_sizes() -> None:
    fit = fit_of("prorl-v1", 80, "rollout.vllm_memory=0.2")
    phases = {phase.name: phase for phase in fit.phases}
    assert list(phases) == [phase.name for phase in fit.config.phases]
    first, last = phases["run-1"], phases["run-8"]
    assert (first.sizes["response tokens"], last.sizes["response tokens"]) == (8192, 16384)
    assert last.sizes["tokens a pass"] > first.sizes["tokens a pass"] == 16384
    early, late = (phase.stages[-1].items["activations"] for phase in (first, last))
    assert late > early
    assert fit.worst is last


def test_shards_shrink_what_each_gpu_holds() -> None:
    one = fit_of("prorl-v2", 80, "engine=openrlhf", "openrlhf.gpus_per_node=1")
    eight = fit_of("prorl-v2", 80, "engine=openrlhf", "openrlhf.gpus_per_node=8")
    sharded = fit_of("prorl-v2", 80, "engine=openrlhf", "openrlhf.zero_stage=3")

    def held(fit: Fit, item: str) -> int:
        (stage,) = (s for s in fit.phases[0].stages if s.name == "sampling")
        return stage.items[item]

    parameters = one.parameters
    assert held(one, "optimiser") == 12 * parameters
    assert held(eight, "optimiser") == 12 * parameters // 8
    assert held(eight, "weights") == held(eight, "reference") == 2 * parameters
    assert held(sharded, "weights") == held(sharded, "reference") == 2 * parameters // 8


def test_vllm_on_gpus_of_its_own_takes_nothing_of_the_policys() -> None:
    fit = fit_of("prorl-v2", 80, "engine=openrlhf", "openrlhf.colocate=false")
    by_place = {(s.name, s.where): s for s in fit.phases[0].stages}
    assert by_place["sampling", "sampler"].items.get("weights", 0) == 0
    assert by_place["update", "policy"].items["KV cache"] == 0


def test_without_a_kl_term_there_is_no_reference_and_one_set_of_gradients() -> None:
    with_kl, without = fit_of("no-length", 80), fit_of("no-kl", 80)
    update, bare = with_kl.phases[0].worst, without.phases[0].worst
    assert bare.items["reference"] == 0 < update.items["reference"]
    assert update.items["gradients"] == 2 * bare.items["gradients"]


def small(**over: Any) -> TrainConfig:
    model = {"path": "smollm2-135m", **over}
    return TrainConfig.model_validate({"preset": "cpu", "model": model})


def test_a_run_that_does_not_fit_is_refused_before_it_starts_and_can_be_forced() -> None:
    with pytest.raises(UserError, match=r"does not fit a GPU of 8 GB.*model.check_fit=false"):
        check_fit(load_config("prorl-v2"), ("cuda", 8 * GB))
    assert check_fit(small(check_fit=False), ("cuda", GB)) is None
    assert check_fit(small(), ("cuda", 80 * GB)) is None


def test_a_run_that_just_fits_is_told_so() -> None:
    needed = fit_of("prorl-v2", 80).needed
    said = check_fit(load_config("prorl-v2"), ("cuda", int(needed * 1.02)))
    assert said is not None and said.endswith("estimated: see prorl train fit")


def test_a_cluster_elsewhere_is_advised_not_refused() -> None:
    config = load_config("prorl-v2", None, ["engine=openrlhf", "openrlhf.vllm_memory=0.9"])
    said = check_fit(config, None)
    assert said is not None and "--set openrlhf.vllm_memory=" in said


def test_a_model_whose_sizes_are_not_known_is_not_refused() -> None:
    said = check_fit(small(path="lab/unknown"), ("cuda", GB))
    assert said is not None and said.startswith("not estimated: the sizes of lab/unknown")


def test_a_models_own_config_goes_before_the_known_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "Qwen/Qwen2.5-0.5B"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--Qwen--Qwen2.5-0.5B" / "snapshots" / "0123"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(KNOWN[name] | {"num_hidden_layers": 3}))
    assert model_shape(name).layers == model_shape(str(folder)).layers == 3
    (folder / "config.json").write_text("[1]")
    with pytest.raises(UserError, match=r"config.json is not a model's config"):
        model_shape(name)


def test_main_memory_is_what_the_control_group_allows(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       8000 kB\nMemAvailable:   7000 kB\n")
    assert main_memory(meminfo, tmp_path) == 8000 * 1024
    (tmp_path / "memory.max").write_text("4096000\n")
    assert main_memory(meminfo, tmp_path) == 4096000
    assert main_memory(tmp_path / "none", tmp_path) is None


def prorl(*words: str) -> Any:
    return CliRunner().invoke(build_app(), ["train", "fit", *words])


def test_the_command_prints_bytes_by_item_and_whether_it_fits() -> None:
    done = prorl("--preset", "prorl-v2", "--set", "engine=openrlhf", "--gpus", "16", "--json")
    assert done.exit_code == 0
    shown = json.loads(done.stdout)
    assert shown["fits"] is True and shown["gpus"] == 16
    (phase,) = shown["phases"]
    assert [s["stage"] for s in phase["stages"]] == [
        "sampling",
        "log-probs",
        "update",
        "optimiser step",
    ]
    for stage in phase["stages"]:
        assert set(stage["bytes"]) <= set(ITEMS)
        assert sum(stage["bytes"].values()) == stage["total"] <= shown["needed"]


def test_the_command_exits_2_with_the_setting_that_helps() -> None:
    done = prorl("--preset", "prorl-v2", "--gpu-memory", "80", "--set", NOT_RECOMPUTED)
    assert done.exit_code == 2
    assert "does not fit: 109 GB of 80 GB" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.endswith("it fits with --set model.gradient_checkpointing=true")
