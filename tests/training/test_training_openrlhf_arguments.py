"""OpenRLHF's arguments: their values, rejected settings, and acceptance by its real parser.

The parser's statements are read from the installed train_ppo_ray.py: ``pip install --no-deps openrlhf==0.11.2``.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from doubles import invoke

from prorl_common import UserError, plugins
from prorl_common.config import ConfigError
from prorl_datasets import Sample
from prorl_training.config import LossConfig, TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.presets import preset_names
from prorl_training.config.tree import all_keys
from prorl_training.engine.openrlhf.launch.arguments import (
    Places,
    argument_list,
    dry_run,
    reward_places,
    sequence_limit,
    unsaid,
)
from prorl_training.engine.openrlhf.launch.session import export_prompts
from prorl_training.engine.openrlhf.launch.understood import (
    CURES,
    ELSEWHERE,
    ONLY_WITH,
    SHARED,
    UNDERSTOOD,
    check_supported,
    readers_of_keys,
    unsupported,
)
from prorl_training.planning.gpus import Device, layout_of
from prorl_training.spec import KL_ESTIMATORS, POLICY_LOSSES
from prorl_verifiers import Task
from prorl_verifiers.adapters.openrlhf import rollout_item

ROOT = Path(__file__).resolve().parents[2]
WARM = "warm_start.examples=0"
REFUSED = {"cpu": "warm_start.examples=128", "quickstart": "warm_start.examples=32"}
"""Presets that the engine rejects as they are, and the setting that it names."""


def configured(preset: str, *settings: str) -> TrainConfig:
    return load_config(preset, None, ["engine=openrlhf", *settings])


def placed(device: Device = "cuda", context: int = 0) -> Places:
    reward = ("http://a:1/openrlhf", "http://b:2/openrlhf")
    return Places("model", "prompts.jsonl", "ckpt", "out", reward, device, context)


def arguments(preset: str, *settings: str, device: Device = "cuda") -> dict[str, list[str]]:
    """Return flag -> values; fail if a flag occurs twice."""
    found: dict[str, list[str]] = {}
    for word in argument_list(configured(preset, *settings), placed(device)):
        if word.startswith("--"):
            name, _, value = word.removeprefix("--").partition("=")
            assert name not in found, f"{name} is there twice"
            values = found[name] = [value] if value else []
        else:
            values.append(word)
    return found


@dataclass(frozen=True)
class RealParser:
    """The installed OpenRLHF's parser and its validation."""

    parser: argparse.ArgumentParser
    validate: Callable[[Any], Any]

    def read(self, words: list[str]) -> Any:
        """Return the validated namespace; abbreviated flags are an error."""
        known = set(self.parser._option_string_actions)
        flags = [word.partition("=")[0] for word in words if word.startswith("--")]
        assert set(flags) <= known, f"OpenRLHF has no {sorted(set(flags) - known)}"
        return self.validate(self.parser.parse_args(words))


@pytest.fixture(scope="module")
def real() -> RealParser:
    spec = importlib.util.find_spec("openrlhf")
    if spec is None or spec.origin is None:
        pytest.skip("needs pip install --no-deps openrlhf==0.11.2")
    package = Path(spec.origin).parent
    return real_parser(package / "cli" / "train_ppo_ray.py", package / "utils" / "config.py")


def real_parser(file: Path, config_file: Path) -> RealParser:
    """Run the ``__main__`` block around ``args = parser.parse_args()``, without OpenRLHF's imports and training."""
    tree = ast.parse(file.read_text("utf-8"))
    block = next(node.body for node in tree.body if isinstance(node, ast.If))
    (middle,) = (
        i for i, node in enumerate(block) if ast.unparse(node) == "args = parser.parse_args()"
    )
    assert ast.unparse(block[-1]) == "train(args)"
    names: dict[str, Any] = {"argparse": argparse, "datetime": datetime}
    run(block[:middle], names, file)
    after = [node for node in block[middle + 1 : -1] if not isinstance(node, ast.ImportFrom)]
    spec = importlib.util.spec_from_file_location("openrlhf_utils_config", config_file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def validate(args: Any) -> Any:
        inner = {**names, "args": args, "hierarchize": module.hierarchize}
        run(after, inner, file)
        return inner["args"]

    return RealParser(names["parser"], validate)


def run(statements: list[ast.stmt], names: dict[str, Any], file: Path) -> None:
    exec(compile(ast.Module(statements, []), str(file), "exec"), names)  # noqa: S102 - installed code


def _with_cure(preset: str) -> TrainConfig:
    return configured(preset, WARM) if preset in REFUSED else configured(preset)


@pytest.mark.parametrize("device", ["cuda", "cpu"])
@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_is_taken_by_the_real_parser_or_refused_with_the_reason(
    preset: str, device: Device, real: RealParser, capsys: pytest.CaptureFixture[str]
) -> None:
    if preset in REFUSED:
        with pytest.raises(UserError, match=re.escape(REFUSED[preset])):
            check_supported(configured(preset), device)
    config = _with_cure(preset)
    check_supported(config, device)
    args = real.read(argument_list(config, placed(device)))
    first = config.in_phase(0)
    assert args.rollout.batch_size == first.rollout.prompts
    assert args.rollout.max_new_tokens == first.rollout.max_tokens
    updates = args.rollout.batch_size * args.rollout.n_samples_per_prompt / args.train.batch_size
    assert updates == first.loss.mini_batches
    assert args.algo.kl.init_coef == first.kl.coefficient
    assert args.reward.remote_url == ["http://a:1/openrlhf", "http://b:2/openrlhf"]
    assert args.critic.model_name_or_path is None
    assert args.algo.dynamic_filtering_enable is False
    assert bool(args.vllm.enable_sleep) is (device == "cuda")
    ranks = args.actor.num_nodes * args.actor.num_gpus_per_node
    assert ranks == args.vllm.num_engines * args.vllm.tensor_parallel_size
    assert args.train.batch_size % ranks == 0
    warned = capsys.readouterr().out  # it sets flash attention, which prorl maps back
    without_flash = device == "cpu" or importlib.util.find_spec("flash_attn") is None
    assert ("attn_implementation" in warned) is without_flash


@pytest.mark.parametrize(
    "settings",
    [
        ["kl.coefficient=0"],
        ["openrlhf.zero_stage=3"],
        ["openrlhf.adam_offload=true"],
        ["openrlhf.colocate=false", "openrlhf.vllm_eager=true"],
        ["openrlhf.zero_stage=3", "openrlhf.reference_offload=true"],
        [
            "openrlhf.nodes=4",
            "openrlhf.vllm_tensor_parallel=2",
            "model.gradient_checkpointing=true",
        ],
    ],
)
def test_every_kind_of_flag_is_taken_by_the_real_parser(
    settings: list[str], real: RealParser
) -> None:
    config = configured("prorl-v2", *settings)
    check_supported(config)
    args = real.read(argument_list(config, placed()))
    assert args.algo.kl.use_loss and args.algo.kl.init_coef == config.kl.coefficient


def test_real_parser_refuses_a_flag_that_it_only_knows_the_beginning_of(real: RealParser) -> None:
    with pytest.raises(AssertionError, match=r"OpenRLHF has no \['--rollout\.batch'\]"):
        real.read(["--rollout.batch", "8"])


def test_reader_of_the_main_block_takes_parser_and_checks_and_never_trains(tmp_path: Path) -> None:
    (tmp_path / "cli.py").write_text(
        "import ray_that_is_not_there\n"
        "if __name__ == '__main__':\n"
        "    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--a.b', type=int)\n"
        "    args = parser.parse_args()\n"
        "    from not_there import hierarchize\n"
        "    args = hierarchize(args)\n"
        "    assert args.a.b > 0, 'too small'\n"
        "    train(args)\n"
    )
    (tmp_path / "config.py").write_text(
        "from types import SimpleNamespace as N\n"
        "def hierarchize(args):\n"
        "    return N(a=N(b=getattr(args, 'a.b')))\n"
    )
    fake = real_parser(tmp_path / "cli.py", tmp_path / "config.py")
    assert fake.read(["--a.b", "2"]) == SimpleNamespace(a=SimpleNamespace(b=2))
    with pytest.raises(AssertionError, match="too small"):
        fake.read(["--a.b=-1"])


def test_official_preset_says_what_the_official_script_says() -> None:
    said = arguments("prorl-v2-official")
    assert said["algo.advantage.estimator"] == ["reinforce_baseline"]
    assert (said["rollout.batch_size"], said["rollout.n_samples_per_prompt"]) == (["512"], ["16"])
    assert (said["train.batch_size"], said["rollout.max_new_tokens"]) == (["1024"], ["8192"])
    assert said["data.max_len"] == ["9216"]
    assert (said["algo.kl.init_coef"], said["algo.kl.use_loss"]) == (["0.0001"], [])
    assert "actor.gradient_checkpointing_enable" in said
    assert said["ds.zero_stage"] == ["3"]


def test_what_our_loop_does_is_switched_off_in_openrlhf() -> None:
    said = arguments("prorl-v2-official")
    assert (said["eval.steps"], said["ckpt.save_steps"]) == (["-1"], ["-1"])
    assert said["ckpt.best_metric_key"] == ["none"]
    assert (said["actor.lr_scheduler"], said["actor.lr_warmup_ratio"]) == (["constant"], ["0"])
    assert "train.dynamic_batch_enable" in said and "ds.packing_samples" in said


def test_phases_are_said_as_they_are_at_step_1_with_room_for_the_longest() -> None:
    said = arguments("prorl-v1")
    assert (said["rollout.n_samples_per_prompt"], said["rollout.max_new_tokens"]) == (
        ["16"],
        ["8192"],
    )
    assert said["data.max_len"] == [str(16384 + 1024)]  # run-8's limit, and room for a prompt


def test_reference_is_loaded_when_only_a_later_phase_has_a_penalty() -> None:
    late = "phases=[{name: a, steps: 1}, {name: b, steps: 1, set: {kl: {coefficient: 0.5}}}]"
    assert arguments("prorl-v2", "kl.coefficient=0", late)["algo.kl.init_coef"] == ["0.5"]
    assert arguments("no-kl")["algo.kl.init_coef"] == ["0.0"]


def test_no_flag_speaks_of_what_is_not_openrlhfs_to_decide() -> None:
    plain = arguments("prorl-v2")
    ours = [
        "loss.mismatch.correction=tis",
        "loss.dual_clip=3",
        "loss.clip_high=0.4",
        "loss.aggregation=constant",
        "kl.estimator=k3",
        "kl.clamp=both",
        "advantage.estimator=dr_grpo",
        "dynamic_sampling.enabled=false",
        "stop_properly.mode=scale",
        "overlong.factor=2",
    ]
    assert arguments("prorl-v2", *ours) == plain


@pytest.mark.parametrize(
    ("settings", "ranks"), [((), "1"), (("openrlhf.cpu_ranks=2",), "2")], ids=["bare", "two"]
)
def test_run_without_gpu_is_cpu_ranks_of_each_kind(settings: tuple[str, ...], ranks: str) -> None:
    gpus = ("openrlhf.nodes=4", "openrlhf.vllm_engines=7", "openrlhf.colocate=false")
    said = arguments("prorl-v2", *gpus, *settings, device="cpu")
    for name in ("actor.num_gpus_per_node", "ref.num_gpus_per_node", "vllm.num_engines"):
        assert said[name] == [ranks], name
    assert said["actor.num_nodes"] == said["ref.num_nodes"] == ["1"]
    assert (said["vllm.sync_backend"], said["ds.attn_implementation"]) == (["gloo"], ["sdpa"])
    assert said["vllm.gpu_memory_utilization"] == ["0.1"]
    assert "vllm.enforce_eager" in said and "vllm.enable_sleep" not in said
    assert "train.colocate_all" in said


@pytest.mark.parametrize(
    ("settings", "ranks", "engines", "width"),
    [
        ([], 8, 8, 1),
        (["openrlhf.vllm_tensor_parallel=2"], 8, 4, 2),
        (["openrlhf.nodes=4"], 32, 32, 1),
        (["openrlhf.colocate=false"], 4, 4, 1),
        (["openrlhf.colocate=false", "openrlhf.vllm_engines=6"], 2, 6, 1),
        (["openrlhf.colocate=false", "openrlhf.vllm_tensor_parallel=4"], 4, 1, 4),
        (["openrlhf.colocate=false", "openrlhf.gpus_per_node=1", "openrlhf.nodes=2"], 0, 1, 1),
    ],
)
def test_layout_divides_the_gpus(settings: list[str], ranks: int, engines: int, width: int) -> None:
    layout = layout_of(configured("prorl-v2", *settings), "cuda")
    assert (layout.policy_ranks, layout.engines, layout.tensor_parallel) == (ranks, engines, width)


def test_gpus_apart_name_the_reference_with_the_policy_and_let_nobody_sleep() -> None:
    said = arguments("prorl-v2", "openrlhf.colocate=false")
    assert "train.colocate_actor_ref" in said and "train.colocate_all" not in said
    assert "vllm.enable_sleep" not in said
    assert said["ref.num_gpus_per_node"] == said["actor.num_gpus_per_node"] == ["4"]


def test_longest_sequence_is_what_the_config_allows_and_the_model_holds() -> None:
    limited = configured("prorl-v2")
    open_ended = configured("prorl-v2", "rollout.max_prompt_tokens=0")
    assert (sequence_limit(limited), sequence_limit(limited, 131072)) == (9216, 9216)
    assert sequence_limit(limited, 8500) == 8500
    assert (sequence_limit(open_ended), sequence_limit(open_ended, 131072)) == (10240, 131072)
    assert sequence_limit(configured("prorl-v2", "rollout.vllm_context=12000"), 131072) == 12000


REFUSALS = {
    "model.lora.rank=8": "model.lora.rank=8: adapters are not supported",
    "warm_start.examples=5": "warm_start.examples=5: supervised steps are not supported",
    "model.dtype=fp32": "set model.dtype=auto",
    "model.device=cuda:1": "set model.device=cuda, and CUDA_VISIBLE_DEVICES",
    "rollout.backend=transformers": "vLLM samples here",
    "kl.measure_share_every=7": "this engine does not measure the KL term's share of the gradient: remove it",
    "loss.mini_batches=3": "256 prompts do not divide into loss.mini_batches=3",
    "openrlhf.gpus_per_node=7": "1024 responses an update do not divide among the policy's 7 ranks",
    "openrlhf.vllm_engines=3": "3 of 1 do not fill 1 x 8 GPUs",
    "openrlhf.vllm_tensor_parallel=16": "an engine stays within one machine",
    "openrlhf.attention=sdpa": "set openrlhf.attention=flash_attention_2",
    "rollout.vllm_context=8192": "leaves no room for a prompt",
    "openrlhf.reference_offload=true": "set openrlhf.reference_offload=false or openrlhf.zero_stage=3",
}


@pytest.mark.parametrize(("setting", "why"), REFUSALS.items())
def test_setting_is_refused_alone_with_the_cure(setting: str, why: str) -> None:
    assert unsupported(configured("prorl-v2")) == []
    (line,) = unsupported(configured("prorl-v2", setting))
    assert why in line
    with pytest.raises(UserError, match=re.escape(why)):
        check_supported(configured("prorl-v2", setting))


class LossWithATwist(LossConfig):
    """A loss section with a key that is not on the list."""

    twist: float = 0.0


class SharperLoss(LossWithATwist):
    """A section nested one level deeper."""

    inner: LossWithATwist = LossWithATwist()


def test_a_key_that_nobody_put_on_the_list_is_refused_by_name_as_soon_as_it_is_set() -> None:
    config = configured("prorl-v2")

    def with_loss(**values: Any) -> TrainConfig:
        return config.model_copy(update={"loss": SharperLoss(**values)})

    assert unsupported(with_loss()) == []
    inner = LossWithATwist(twist=2.0)
    twist, deeper = unsupported(with_loss(twist=0.5, inner=inner))
    assert twist.startswith("loss.twist=0.5: this engine does not support it: remove it")
    assert deeper.startswith("loss.inner.twist=2.0: this engine does not support it")


def test_every_key_of_the_config_is_on_one_list_or_refused_with_a_reason() -> None:
    listed = {f"{s}.{key}" for s, keys in UNDERSTOOD.items() for key in keys.split()}
    listed |= {*UNDERSTOOD[""].split(), *ELSEWHERE, *CURES, *readers_of_keys()}
    loose = [
        key
        for key in all_keys()
        if key not in listed
        and key.partition(".")[0] not in SHARED
        and key.rpartition(".")[0] not in ONLY_WITH
    ]
    assert loose == []
    gone = [key for key in listed - {"phases"} if key.removeprefix(".") not in set(all_keys())]
    assert gone == [], "settings that there are no more"


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.ENVIRONMENT, "[]")
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    for door in (POLICY_LOSSES, KL_ESTIMATORS):
        monkeypatch.setattr(door, "_generation", -1)


@pytest.mark.usefixtures("no_plugins")
def test_a_setting_of_another_loss_is_refused_unless_the_preset_made_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from prorl_training import PolicyLossSpec\n"
        "SPEC = PolicyLossSpec('mine', lambda *a: a[0], keys=('loss.clip_low',))\n"
    )
    plugins.use_plugins([file])
    mine = ["loss.name=mine", "loss.clip_low=0.1"]
    assert unsupported(configured("prorl-v1", *mine)) == []  # whose preset sets dual_clip
    (line,) = unsupported(configured("prorl-v1", *mine, "loss.dual_clip=4"))
    assert "loss.dual_clip=4.0: only the policy loss clip or gspo reads it" in line


def test_settings_are_refused_that_only_together_are_wrong() -> None:
    best = ["controller.reset_to=best", "openrlhf.zero_stage=3"]
    checked = ["openrlhf.verify_sync=true", "openrlhf.vllm_tensor_parallel=2"]
    assert ["stage 3 that has trained" in line for line in refused(best)] == [True]
    assert ["openrlhf.verify_sync=false" in line for line in refused(checked)] == [True]
    assert (
        refused(["controller.reset_to=best_reference", best[1]]) == []
    )  # only the reference moves
    assert refused(best[:1]) == refused(checked[:1]) == refused(checked[1:]) == []


def refused(settings: list[str]) -> list[str]:
    return unsupported(configured("prorl-v2", *settings))


def test_engines_apart_must_leave_gpus_that_divide_among_the_nodes() -> None:
    apart = ["openrlhf.colocate=false", "openrlhf.nodes=2", "openrlhf.gpus_per_node=2"]
    assert (
        "do not divide among 2 nodes"
        in unsupported(configured("prorl-v2", *apart, "openrlhf.vllm_engines=3"))[0]
    )
    assert (
        "leave none for the policy"
        in unsupported(configured("prorl-v2", *apart, "openrlhf.vllm_engines=4"))[0]
    )


def test_all_refusals_come_at_once_and_a_phases_by_its_name() -> None:
    late = (
        "phases=[{name: a, steps: 1}, {name: b, steps: 1, set: {kl: {measure_share_every: 9}, "
        "optimizer: {lr: 1e-7, beta2: 0.999}}}, {name: c, steps: 1, set: {kl: {measure_share_every: 9}}}]"
    )
    with pytest.raises(UserError) as caught:
        check_supported(configured("prorl-v2", late, "model.lora.rank=4"))
    head, *lines = str(caught.value).splitlines()
    assert head == "engine openrlhf does not support 3 settings of this run:"
    assert lines[0].startswith("  - model.lora.rank=4: ")
    assert lines[1].startswith("  - phase b: kl.measure_share_every=9: ")
    assert lines[2].startswith("  - phase b: optimizer.beta2 0.95 -> 0.999: ")


def test_learning_rate_may_change_in_a_phase() -> None:
    late = "phases=[{name: a, steps: 1}, {name: b, steps: 1, set: {optimizer: {lr: 1e-7, schedule: linear}}}]"
    assert unsupported(configured("prorl-v2", late)) == []


def test_without_gpu_the_layout_of_gpus_is_no_matter() -> None:
    config = configured("prorl-v2", "openrlhf.attention=sdpa", "openrlhf.gpus_per_node=7")
    assert unsupported(config, "cpu") == [] and len(unsupported(config, "cuda")) == 2
    (line,) = unsupported(configured("prorl-v2", "openrlhf.cpu_ranks=3"), "cpu")
    assert "1024 responses an update do not divide among the policy's 3 ranks" in line


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("openrlhf.ray_address=somewhere", "use auto, HOST:PORT or ray://HOST:PORT"),
        ("reward.servers=[host:8421]", "a reward server's address is 'host:8421'"),
        ("openrlhf.reward=service", "reward was removed: name running reward servers in reward.se"),
        ("openrlhf.reward_urls=[http://a:1]", "reward_urls was removed: name running reward"),
        ("openrlhf.zero_stage=1", "openrlhf.zero_stage"),
        ("openrlhf.ring_attn_size=2", "ring_attn_size: ring attention is not supported"),
    ],
)
def test_wrong_values_of_the_section_are_refused(setting: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)):
        configured("prorl-v2", setting)


def test_addresses_of_ray_and_of_reward_servers_are_taken() -> None:
    for address in ("auto", "10.0.0.1:6379", "ray://head:10001"):
        config = configured("prorl-v2", f"openrlhf.ray_address={address}")
        assert config.openrlhf.ray_address == address
    config = configured("prorl-v2", "reward.servers=[http://a:1/, http://b]")
    assert config.reward.servers == ("http://a:1/", "http://b")
    assert configured("prorl-v2", "reward.servers=http://a:1,http://b:2").reward.servers == (
        "http://a:1",
        "http://b:2",
    )
    assert reward_places(config) == ("http://a:1/openrlhf", "http://b/openrlhf")


def test_exported_rows_are_what_the_loader_and_the_reward_read(tmp_path: Path) -> None:
    chat = ({"role": "user", "content": "2 + 2 = ? \N{GREEK SMALL LETTER PI}"},)
    task = Task("math", {"answer": "4"})
    path = tmp_path / "deep" / "prompts.jsonl"
    assert export_prompts([Sample("s-1", "math", chat, task, "test", "none")], path) == 1
    (row,) = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert (row["id"], row["datasource"], row["prompt"]) == ("s-1", "math", [dict(chat[0])])
    assert rollout_item("Q: 2 + 2 A: four", "Q: 2 + 2 A:", row["label"]) == (" four", task)


def _breaking() -> Iterator[Sample]:
    raise ZeroDivisionError
    yield


def test_export_without_prompts_or_cut_short_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text("old")
    with pytest.raises(UserError, match="no prompts"):
        export_prompts([], path)
    with pytest.raises(ZeroDivisionError):
        export_prompts(_breaking(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["prompts.jsonl"]
    assert path.read_text() == "old"


def test_dry_run_is_the_command_a_flag_a_line_and_quoted() -> None:
    config = configured("prorl-v2", "model.path=my model", "reward.servers=[http://a:1]")
    text = dry_run(config, "one")
    words = shlex.split(text.replace("\\\n", ""))
    assert words[:3] == ["python", "-m", "openrlhf.cli.train_ppo_ray"]
    assert words[words.index("--actor.model_name_or_path") + 1] == "my model"
    assert words[words.index("--reward.remote_url") + 1] == "http://a:1/openrlhf"
    assert words[words.index("--data.prompt_dataset") + 1] == "runs/one/openrlhf/prompts.jsonl"
    lines = text.splitlines()
    assert all(line.endswith(" \\") for line in lines[:-1]) and not lines[-1].endswith("\\")
    assert all(line.strip().startswith("--") for line in lines[1:])


def test_without_services_the_command_names_the_adapters_file() -> None:
    (file,) = reward_places(configured("prorl-v2"))
    assert file.endswith("adapters/openrlhf.py")
    assert file in dry_run(configured("prorl-v2"))


def test_context_of_a_model_on_disk_is_read_for_the_dry_run(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 16384}')
    config = configured("prorl-v2", f"model.path={tmp_path}", "rollout.max_prompt_tokens=0")
    assert "--data.max_len 16384" in dry_run(config)
    assert not any("max_len" in line for line in unsaid(config))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("stop_properly.mode=mask", "stop_properly"),
        ("advantage.estimator=batch_std", "advantage"),
        ("data.domain_weights.math=1", "data.domain_weights"),
        ("optimizer.warmup_updates=5", "warmup_updates"),
        ("kl.clamp=input", "loss, kl: computed by prorl's own functions"),
        ("length_penalty.weight=1", "length_penalty"),
        ("controller.reset_interval=5", "controller"),
    ],
)
def test_what_openrlhf_has_no_flag_for_is_said(setting: str, said: str) -> None:
    assert any(said in line for line in unsaid(configured("prorl-v2", setting)))


def test_official_preset_leaves_little_unsaid() -> None:
    found = "\n".join(unsaid(configured("prorl-v2-official")))
    for topic in ("phases", "domain_weights", "controller", "length_penalty"):
        assert topic not in found


def prorl(*words: str) -> Any:
    return invoke("train", *words)


def test_dry_run_from_the_command_line_needs_no_data_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = prorl("--engine", "openrlhf", "--dry-run", "--preset", "prorl-v2", "--name", "mine")
    assert shown.stdout == dry_run(configured("prorl-v2"), "mine") + "\n"
    assert "controller: OpenRLHF has no reference reset" in shown.stderr
    on_cpu = prorl("--engine", "openrlhf", "--dry-run", "--preset", "prorl-v2", "--device", "cpu")
    assert "--vllm.sync_backend gloo" in on_cpu.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_plugins")
def test_a_plug_in_loss_is_understood_from_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from prorl_training import PolicyLossSpec\nSPEC = PolicyLossSpec('mine', lambda *a: a[0])\n"
    )
    words = ["--engine", "openrlhf", "--dry-run", "--preset", "prorl-v2", "--set", "loss.name=mine"]
    assert "train_ppo_ray" in prorl(*words, "--plugin", str(file)).stdout
    with pytest.raises(
        UserError, match=r"loss\.dual_clip=3\.0: only the policy loss clip or gspo reads it"
    ):
        prorl(*words, "--plugin", str(file), "--set", "loss.dual_clip=3")


def test_dry_run_of_another_engine_or_of_a_resumed_run_is_refused() -> None:
    with pytest.raises(UserError, match="use --engine openrlhf"):
        prorl("--dry-run", "--preset", "prorl-v2")
    with pytest.raises(UserError, match="only --steps and --set may"):
        prorl("--dry-run", "--resume", "x")
    with pytest.raises(UserError, match=re.escape("warm_start.examples=128")):
        prorl("--dry-run", "--engine", "openrlhf", "--preset", "cpu")


def test_reference_page_names_every_flag_and_every_setting() -> None:
    page = (ROOT / "docs" / "reference" / "openrlhf.md").read_text("utf-8")
    named = set(re.findall(r"`([^`]+)`", page))
    flags = {flag for name in preset_names() for flag in arguments(name, WARM)}
    more = [
        "openrlhf.colocate=false",
        "openrlhf.adam_offload=true",
        "model.gradient_checkpointing=true",
    ]
    flags |= set(arguments("prorl-v2", *more, "openrlhf.reference_offload=true"))
    assert not {f"--{flag}" for flag in flags} - {word.split()[0] for word in named}
    sections = {word.removesuffix(".*") for word in named if word.endswith(".*")}
    missing = [
        key
        for key in all_keys()
        if key not in named and not any(key.startswith(f"{name}.") for name in sections)
    ]
    assert missing == []
