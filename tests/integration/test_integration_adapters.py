"""Adapters in the real trainers; missing ones skip, or fail if PRORL_TRAINERS (like ``trl,verl``) names them.

Their requirements conflict, so each trainer has its own environment:
PRORL_TRAINERS=trl ENV/bin/python -m pytest tests/integration/test_integration_adapters.py
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.metadata
import json
import math
import os
import runpy
import socket
import subprocess
import sys
import time
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from doubles import converse, tool_call, write_model

from prorl_common import plugins
from prorl_verifiers import Task, TaskError, Verdict, VerifierPool, load_task
from prorl_verifiers.adapters import (
    RewardUnavailableError,
    ScorerOptions,
    TrlReward,
    close_shared,
    common,
    make_trl_reward,
)

# Ignore warnings of other packages.
pytestmark = pytest.mark.filterwarnings("default")
FOUR = json.dumps({"answer": "4"})


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_shared()


def need(trainer: str) -> None:
    """Skip without the trainer; fail if PRORL_TRAINERS requires it."""
    if any(word.strip() == trainer for word in os.environ.get("PRORL_TRAINERS", "").split(",")):
        importlib.import_module(trainer)
        return
    try:
        importlib.metadata.version(trainer)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{trainer} is not installed here (pip install {trainer})")


def module(name: str) -> Any:
    """Import an untyped module."""
    return importlib.import_module(name)


class Broken:
    """A scorer whose every second verdict is an infra_error."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        return [
            Verdict(None, "infra_error", "broken")
            if index % 2
            else Verdict(float(index % 4 == 0), "scored", "fake")
            for index in range(len(items))
        ]

    def close(self) -> None:
        pass


# --- TRL -----------------------------------------------------------------------------------------------


def tiny_trainer(folder: Path, reward: Any, rows: list[dict[str, Any]], **settings: Any) -> Any:
    import torch

    trl, transformers, tokenizers = module("trl"), module("transformers"), module("tokenizers")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    words = ["<pad>", "<eos>", "<unk>", "what", "is", "2", "+", "4", r"\boxed{4}", r"\boxed{5}"]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    fast.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    defaults = {
        "output_dir": str(folder),
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 6,
        "max_steps": 2,
        "learning_rate": 1e-3,
        "use_cpu": True,
        "bf16": False,
        "logging_steps": 1,
        "report_to": [],
        "save_strategy": "no",
    }
    args = trl.GRPOConfig(**(defaults | settings))
    data = module("datasets").Dataset.from_list(rows)
    model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(folder / "base")  # from which TRL makes the reference
    model.config._name_or_path = str(folder / "base")
    return trl.GRPOTrainer(
        model=model,
        reward_funcs=reward if isinstance(reward, list) else [reward],
        args=args,
        train_dataset=data,
        eval_dataset=data,
        processing_class=fast,
    )


@pytest.mark.parametrize("chat", [False, True])
def test_trl_trains_two_steps_on_rewards_of_the_real_pool(tmp_path: Path, chat: bool) -> None:
    need("trl")
    text = "what is 2 + 2"
    prompt = [{"role": "user", "content": text}] if chat else text
    rows = [{"prompt": prompt, "verifier": "math", "reference": FOUR}] * 8
    seen: list[float | None] = []

    class Watched(TrlReward):
        def __call__(
            self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
        ) -> list[float | None]:
            found = super().__call__(prompts, completions, **columns)
            seen.extend(found)
            return found

    reward = Watched(None, ScorerOptions(workers=2, timeout=30))
    trainer = tiny_trainer(tmp_path, reward, rows)
    trainer.train()
    logs = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logs) == 2 and all(math.isfinite(row["loss"]) for row in logs)
    assert "rewards/prorl_reward/mean" in logs[0] and "verify/infra_error" in logs[0]
    assert len(seen) == 16 and set(seen) <= {0.0, 1.0}
    assert {0.0, 1.0} <= set(seen), "a tiny vocabulary makes both rewards likely"


CONTROL = [
    "controller.reset_interval=3",
    "length_penalty.start_step=2",
    "length_penalty.steps_on=2",
]
DECIDED = [
    (2, "penalty_window_opened"),
    (3, "reference_reset"),
    (4, "penalty_window_closed"),
    (6, "reference_reset"),
]


def controlled_trl(folder: Path, **settings: Any) -> tuple[Any, Any]:
    from prorl_training.callbacks.trl import ProRLCallback

    callback = ProRLCallback(folder / "run", settings=CONTROL)
    rows = [{"prompt": f"what is {i} + 2", "verifier": "math", "reference": FOUR} for i in range(8)]
    reward = make_trl_reward(workers=1, timeout=30)
    trainer = tiny_trainer(
        folder, callback.rewards(reward), rows, beta=0.01, max_steps=8, max_completion_length=3,
        eval_strategy="steps", eval_steps=4, per_device_eval_batch_size=8, **settings,
    )  # fmt: skip
    callback.attach(trainer)
    return callback, trainer


def test_trl_resets_its_reference_and_penalises_length_as_the_controller_decides(
    tmp_path: Path,
) -> None:
    need("trl")
    callback, trainer = controlled_trl(tmp_path, save_strategy="steps", save_steps=4)
    trainer.train()
    rows, decisions = callback.folder.metrics(), callback.folder.decisions()
    assert [(d["step"], d["kind"]) for d in decisions if d["kind"] != "step_skipped"] == DECIDED
    assert [row["step"] for row in rows] == list(range(1, 9))
    # a policy equal to its reference has no KL
    assert [row["kl"] == 0 for row in rows] == [s in (1, 4, 7) for s in range(1, 9)]
    for row in rows:
        shaped = abs(row["shaped_reward_mean"] - row["reward_mean"]) > 1e-6
        assert shaped == row["length_penalty_active"] == (row["step"] in (2, 3))
    assert [r["step"] for r in rows if len(r.get("validation_rewards", ())) == 8] == [4, 8]
    callback, trainer = controlled_trl(tmp_path)
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    decisions = callback.folder.decisions()
    rules = [(d["step"], d["evidence"]["rule"]) for d in decisions if "rule" in d["evidence"]]
    assert rules == [(3, "interval"), (4, "resumed"), (7, "interval")]
    kls = [row["kl"] for row in callback.folder.metrics()]
    assert len(kls) == 8 and kls[4] == kls[7] == 0 < kls[5]


def test_trl_leaves_rows_without_a_verdict_out_of_the_group(tmp_path: Path) -> None:
    need("trl")
    rows = [{"prompt": "what is 2 + 2", "verifier": "math", "reference": FOUR}] * 8
    reward = make_trl_reward(Broken(), retries=0)
    trainer = tiny_trainer(tmp_path, reward, rows)
    trainer.train()
    advantages = list(trainer._logs["advantages"])
    rewards = list(trainer._logs["rewards"]["prorl_reward"])
    assert len(advantages) == len(rewards) > 0
    for reward_value, advantage in zip(rewards, advantages, strict=True):
        if math.isnan(reward_value):
            assert advantage == 0.0
        else:
            assert advantage != 0.0, "one right and one wrong remain in each group of four"
    assert any(map(math.isnan, rewards))
    logs = [row for row in trainer.state.log_history if "reward" in row]
    assert all(row["reward"] == 0.5 and math.isfinite(row["loss"]) for row in logs)


def test_the_trl_example_trains_two_steps_on_data_of_ours(tmp_path: Path) -> None:
    need("trl")
    from prorl_common import NullProgress
    from prorl_datasets import build, load_recipe

    examples = Path(__file__).parents[2] / "examples"
    build(load_recipe(str(examples / "own_data.yaml")), tmp_path / "own", progress=NullProgress())
    write_model(tmp_path / "model")
    done = subprocess.run(
        [sys.executable, examples / "trl_rewards.py", "--model", "model", "--data", "own"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = [
        line for line in done.stdout.splitlines() if line.endswith(("'step': 1}", "'step': 2}"))
    ]
    assert len(shown) == 2 and all("'reward': " in line for line in shown)


# --- verl ----------------------------------------------------------------------------------------------


class Words:
    """A tokenizer whose ids are indices into a list of texts."""

    texts = ("", r"so \boxed{4}", r"\boxed{5}", "no answer")
    eos_token = "<eos>"

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        return "".join(self.texts[int(number)] for number in ids)


def verl_batch() -> Any:
    import numpy
    import torch

    DataProto = module("verl").DataProto
    responses = torch.tensor([[1, 0], [2, 0], [3, 0]])
    truths: list[Any] = [FOUR, {"answer": "4"}, "4"]
    return DataProto.from_dict(
        tensors={
            "prompts": torch.zeros((3, 2), dtype=torch.long),
            "responses": responses,
            "attention_mask": torch.ones((3, 4), dtype=torch.long),
        },
        non_tensors={
            "data_source": numpy.array(["prorl/math", "x", "x"], dtype=object),
            "reward_model": numpy.array([{"ground_truth": t} for t in truths], dtype=object),
            "extra_info": numpy.array(
                [{}, {"verifier": "math"}, {"verifier": "math"}], dtype=object
            ),
        },
    )


def verl_config(name: str) -> Any:
    custom = {
        "path": "pkg://prorl_verifiers.adapters.verl",
        "name": name,
        "reward_kwargs": {"workers": 1, "timeout": 30},
    }
    manager = {"source": "register", "name": "naive"}
    return module("omegaconf").OmegaConf.create(
        {"reward": {"custom_reward_function": custom, "reward_manager": manager}}
    )


def test_verls_loader_and_naive_manager_score_with_the_real_pool() -> None:
    need("verl")
    function = module("verl.trainer.ppo.reward").get_custom_reward_fn(verl_config("compute_score"))
    manager = module("verl.workers.reward_manager").get_reward_manager_cls("naive")(
        Words(), 0, function
    )
    found = manager(verl_batch(), return_dict=True)
    assert found["reward_tensor"].sum(dim=1).tolist() == [1.0, 0.0, 0.0]
    assert found["reward_extra_info"]["status"] == ["scored", "scored", "unparsable"]
    assert len({len(values) for values in found["reward_extra_info"].values()}) == 1


def test_verls_batch_manager_scores_all_at_once() -> None:
    need("verl")
    function = module("verl.trainer.ppo.reward").get_custom_reward_fn(
        verl_config("compute_score_batch")
    )
    manager = module("verl.workers.reward_manager").get_reward_manager_cls("batch")(
        Words(), 0, function
    )
    assert manager(verl_batch()).sum(dim=1).tolist() == [1.0, 0.0, 0.0]


def test_verls_reward_loop_scores_from_its_threads() -> None:
    need("verl")

    async def run() -> list[Any]:
        manager = module("verl.trainer.ppo.reward").load_reward_manager(
            verl_config("compute_score"), Words()
        )
        batch = verl_batch()
        return await asyncio.gather(*(manager.run_single(batch[i : i + 1]) for i in range(3)))

    found = asyncio.run(run())
    assert [row["reward_score"] for row in found] == [1.0, 0.0, 0.0]
    assert len({tuple(row["reward_extra_info"]) for row in found}) == 1


def test_verl_gets_an_exception_where_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    need("verl")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setenv("PRORL_RETRIES", "0")
    function = module("verl.trainer.ppo.reward").get_custom_reward_fn(verl_config("compute_score"))
    manager = module("verl.workers.reward_manager").get_reward_manager_cls("naive")(
        Words(), 0, function
    )
    with pytest.raises(RewardUnavailableError):
        manager(verl_batch())


def test_verls_sync_trainer_fits_as_the_controller_decides(tmp_path: Path) -> None:
    """The real trainer, its queue and its advantages; generation and updates, which need a GPU, are made up."""
    need("verl")
    import torch

    example = str(Path(__file__).parents[2] / "examples" / "prorl_in_verl.py")
    register = runpy.run_path(example)["register"]
    hydra, ray, queue = module("hydra"), module("ray"), module("transfer_queue")
    stack, batches = module("tensordict").NonTensorStack, module("tensordict").TensorDict
    v1 = module("verl.trainer.ppo.v1")
    overrides = (
        "trainer.v1.trainer_mode=prorl_sync actor_rollout_ref.actor.use_kl_loss=true trainer.logger=[console] "
        "data.max_response_length=4 data.train_batch_size=2 actor_rollout_ref.rollout.n=2 critic.enable=false "
        "algorithm.adv_estimator=grpo trainer.val_before_train=false trainer.save_freq=-1 trainer.test_freq=-1"
    )
    configs = str(Path(module("verl.trainer").__file__).parent / "config")
    with hydra.initialize_config_dir(configs, version_base=None):
        config = hydra.compose("ppo_trainer", overrides=overrides.split())
    register(tmp_path / "run", settings=CONTROL)
    trainer = v1.get_trainer_cls("prorl_sync")(config)
    trainer._init_resource_pool_mgr()
    (worker,) = trainer.role_worker_mapping.values()
    assert hasattr(worker.__ray_actor_class__, "reset_reference")
    calls: list[tuple[Any, ...]] = []

    class Workers:
        def __getattr__(self, name: str) -> Any:
            return lambda *args: calls.append((trainer.global_steps, name, *args))

    def step(metrics: dict[str, Any], timing: dict[str, float]) -> Any:
        number, responses = trainer.global_steps, [[5, 1], [5, 5, 5, 5], [5, 5, 1], [5, 5, 5, 1]]
        keys = [f"{prompt}{number}_{i}_0" for prompt in "ab" for i in range(2)]
        scores = [[0.0] * (len(ids) - 1) + [float(i % 3 == 0)] for i, ids in enumerate(responses)]
        columns: dict[str, list[list[Any]]] = {"prompts": [[3, 3]] * 4, "responses": responses}
        columns |= {"rm_scores": scores, "response_mask": [[1] * len(ids) for ids in responses]}
        columns["old_log_probs"] = [[-1.0] * len(ids) for ids in responses]
        fields = {
            name: torch.nested.as_nested_tensor(
                [torch.tensor(r) for r in rows], layout=torch.jagged
            )
            for name, rows in columns.items()
        }
        fields["num_turns"], names = torch.ones(4, dtype=torch.long), [key[:2] for key in keys]
        data = batches(fields | {"uid": stack(*names)}, batch_size=4)
        steps = {"min_global_steps": number - 1, "max_global_steps": number - 1}
        tags = [steps | {"seq_len": 2 + len(ids)} for ids in responses]
        place = {"keys": keys, "partition_id": "train", "tags": tags}
        queue.kv_batch_put(fields=data, **place)
        metrics |= {"actor/kl_loss": 1e-3, "actor/entropy": 1.0, "actor/grad_norm": 1.0}
        return trainer._compute_advantage(queue.KVBatchMeta(**place), metrics)

    trainer.step, workers = step, Workers()
    trainer.global_steps, trainer.steps_per_epoch, trainer.total_training_steps = 0, 100, 7
    trainer.actor_rollout_wg = trainer.checkpoint_manager = workers
    trainer.tokenizer = types.SimpleNamespace(eos_token_id=1, pad_token_id=0)
    trainer._init_dump_executor()
    ray.init(num_cpus=32, include_dashboard=False)
    try:
        queue.init(config.transfer_queue)
        trainer.fit(None)
        queue.close()
    finally:
        ray.shutdown()
    folder = trainer.prorl.folder
    assert [(d["step"], d["kind"]) for d in folder.decisions()] == DECIDED
    assert [c for c in calls if c[1] == "reset_reference"] == [
        (step, "reset_reference", True, False) for step in (3, 6)
    ]
    for row in folder.metrics():
        assert row["reward_mean"] == 0.5 and row["groups_kept"] == 2
        assert (row["shaped_reward_mean"] < 0.5) == (row["step"] in (2, 3))


# --- OpenRLHF ------------------------------------------------------------------------------------------


def openrlhf_executor(url: str) -> Any:
    return module("openrlhf.utils.agent").SingleTurnAgentExecutor([url])


class Engine:
    """A fake vLLM engine: one response of two tokens."""

    async def generate(self, prompt: Any, params: Any, multi_modal_data: Any = None) -> Any:
        output = types.SimpleNamespace(token_ids=[2, 3], finish_reason="stop", logprobs=None)
        return types.SimpleNamespace(outputs=[output])


class RolloutTokenizer:
    """A fake Hugging Face tokenizer whose prompts are token 1."""

    texts = ("", "Q: 2 + 2? A:", r" so \boxed{4}", "<|im_end|>")

    def __call__(self, text: str, **_: Any) -> Any:
        import torch

        return {"input_ids": torch.tensor([[1]])}

    def decode(self, ids: Any, skip_special_tokens: bool = False) -> str:
        return "".join(self.texts[int(number)] for number in ids)


def roll_out(url: str, label: Any) -> Any:
    params = types.SimpleNamespace(max_tokens=8, logprobs=None)

    async def run() -> Any:
        executor = openrlhf_executor(url)
        tokenizer = RolloutTokenizer()
        return await executor.execute(tokenizer.texts[1], label, params, 64, tokenizer, Engine())

    return asyncio.run(run())


def as_experience(response: Any) -> Any:
    """Pass the response to OpenRLHF's next step, with a stub for vLLM, which that imports and does not use."""
    import torch

    if "vllm" not in sys.modules:
        try:
            importlib.import_module("vllm")
        except ImportError:
            stand_in = types.ModuleType("vllm")
            stand_in.SamplingParams = object  # type: ignore[attr-defined]
            sys.modules["vllm"] = stand_in
            engine = types.ModuleType("openrlhf.trainer.ray.vllm_engine")
            engine.batch_vllm_engine_call = None  # type: ignore[attr-defined]
            sys.modules["openrlhf.trainer.ray.vllm_engine"] = engine
    generator = module("openrlhf.trainer.ppo_utils.samples_generator").SamplesGenerator
    made = generator._process_response_into_experience(
        types.SimpleNamespace(), response, max_len=64
    )
    assert isinstance(made.rewards, torch.Tensor)
    return made


def check_experience(response: Any) -> None:
    import torch

    made = as_experience(response)
    assert made.rewards.reshape(-1).tolist() == made.scores.reshape(-1).tolist() == [1.0]
    assert torch.cat([made.rewards, made.rewards]).reshape(-1, 2).tolist() == [[1.0, 1.0]]
    assert made.scores[0].item() == 1.0 and made.info["reward"][0].item() == 1.0
    assert made.info["verify_timeout"].item() == 0.0


LABEL = json.dumps({"verifier": "math", "reference": {"answer": "4"}})


def test_openrlhf_loads_the_adapters_file_and_reads_its_reward() -> None:
    need("openrlhf")
    from prorl_verifiers.adapters import openrlhf as adapter

    response = roll_out(str(adapter.__file__), LABEL)
    assert float(response["reward"]) == float(response["scores"]) == 1.0
    check_experience(response)


def test_openrlhf_has_no_reward_rather_than_a_zero_without_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need("openrlhf")
    from prorl_verifiers.adapters import openrlhf as adapter

    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setenv("PRORL_RETRIES", "0")
    response = roll_out(str(adapter.__file__), LABEL)
    assert response["reward"] is None and response["scores"] is None


def test_openrlhf_reads_the_reply_of_the_service(server_url: str) -> None:
    need("openrlhf")
    response = roll_out(f"{server_url}/openrlhf", LABEL)
    assert response["reward"] == response["scores"] == [1.0]
    check_experience(response)


# --- verifiers -----------------------------------------------------------------------------------------


TASKSET = """
import verifiers.v1 as vf

__all__ = ["BankTaskset"]

class BankState(vf.State):
    balance: int = 1

class BankData(vf.TaskData):
    goal: int
    verifier: str = "math"
    reference: str = '{"answer": "4"}'

class BankTools(vf.Toolset[vf.ToolsetConfig, BankState]):
    TOOL_PREFIX = "bank"

    @vf.tool
    async def deposit(self, amount: int) -> str:
        \"\"\"Put money into the account.\"\"\"
        self.state.balance += amount
        return f"balance {self.state.balance}"

    @vf.tool
    async def call_home(self) -> str:
        import socket
        return str(socket.create_connection(("127.0.0.1", 9)))

class BankTask(vf.Task[BankData, BankState, vf.TaskConfig]):
    @vf.reward(weight=2.0)
    async def exact(self, trace) -> float:
        return float(trace.state.balance == self.data.goal)

    @vf.stop
    async def rich(self, trace: vf.Trace) -> bool:
        return trace.state.balance > 100

    @classmethod
    def toolsets(cls, config):
        return [BankTools(vf.ToolsetConfig())]

class BankTaskset(vf.Taskset[BankTask, vf.TasksetConfig]):
    def load(self):
        yield BankTask(BankData(prompt="Reach 4.", system_prompt="You are a clerk.", goal=4))
"""


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of a taskset with tools, which the example's environment plays."""
    need("verifiers")
    (tmp_path / "bank_taskset.py").write_text(TASKSET)
    example = (Path(__file__).parents[2] / "examples/verifiers_environment.py").read_text()
    plugin = tmp_path / "plugin.py"
    plugin.write_text(example.replace('"my_taskset"', '"bank_taskset", largest=2.0'))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    plugins.use_plugins([plugin])
    return module("bank_taskset")


def test_verifiers_scores_a_trace_with_our_reward(bank: Any, monkeypatch: Any) -> None:
    vf = module("verifiers.v1")
    data = bank.BankData(prompt="2 + 2?", goal=0)
    plugged = {"prorl": {"fn": "prorl_verifiers.adapters.verifiers:reward"}}
    task = vf.Task[bank.BankData, vf.State, vf.TaskConfig](data, vf.TaskConfig(rewards=plugged))

    def score(reply: str) -> Any:
        said = vf.MessageNode(message=vf.AssistantMessage(content=reply), sampled=True)
        about = vf.TraceTask(type="T", data=data)
        trace = vf.Trace(task=about, agent=vf.AgentInfo(config=vf.AgentConfig()), nodes=[said])
        with contextlib.suppress(vf.TaskError):
            asyncio.run(task.score(trace))
        return trace.rewards["prorl"]

    assert (score(r"\boxed{4}").score, score(r"\boxed{5}").score) == (1.0, 0.0)
    close_shared()
    monkeypatch.setattr(Broken, "score", lambda self, items: [Verdict(None, "infra_error", "down")])
    monkeypatch.setattr(common, "open_scorer", lambda _: Broken())
    assert score(r"\boxed{4}") is None


def test_verifiers_taskset_is_an_environment(bank: Any) -> None:
    task = next(iter(bank.BankTaskset(bank.vf.TasksetConfig())))
    reference = {"data": json.loads(task.data.model_dump_json())}
    with VerifierPool(workers=1, timeout_seconds=60) as pool:
        for amounts, told, reward in (
            ([1, 2], ["balance 2", "balance 4"], 1.0),
            ([1], ["balance 2"], 0.0),
            (["x", 3], ["Error executing tool", "balance 4"], 1.0),
            ([400], [], 0.0),
        ):
            calls = [tool_call("bank_deposit", amount=amount) for amount in amounts]
            verdict, messages = converse(pool, "verifiers", reference, [*calls, "done"])
            assert (verdict.reward, verdict.status) == (reward, "scored"), verdict.reason
            assert all(map(str.startswith, messages, told)) and len(messages) == len(told)
        verdict, _ = converse(pool, "verifiers", reference, [tool_call("bank_call_home"), "done"])
        assert verdict.is_infra_error and "Permission denied" in verdict.reason
    with pytest.raises(TaskError, match="they need a container"):
        load_task("verifiers", {"data": {**reference["data"], "image": "debian"}})


# --- NeMo-Gym ------------------------------------------------------------------------------------------


SERVER = """
import importlib, sys, uvicorn
from unittest.mock import MagicMock
from nemo_gym.server_utils import ServerClient
module, name, port = sys.argv[1:]
kind = getattr(importlib.import_module(f"resources_servers.{module}.app"), name)
made = kind.model_fields["config"].annotation(host="127.0.0.1", port=1, entrypoint="app.py", name=module)
app = kind(config=made, server_client=MagicMock(spec=ServerClient)).setup_webserver()
uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
"""
CLIENT = """
import json, sys, urllib.request
from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse
body = BaseVerifyRequest.model_validate(json.loads(sys.argv[2])).model_dump()
body |= {"verifier": "math", "reference": {"answer": "6"}}
request = urllib.request.Request(sys.argv[1] + "/verify", json.dumps(body).encode(), {"Content-Type": "application/json"})
print(BaseVerifyResponse.model_validate(json.load(urllib.request.urlopen(request))).reward)
"""


@pytest.fixture
def gym_python() -> str:
    python = os.environ.get("PRORL_NEMO_GYM", "")
    if not python:
        pytest.skip("scripts/trainers.sh nemo_gym installs NeMo-Gym in an environment of its own")
    return os.path.abspath(python)


@pytest.mark.parametrize(
    ("server", "row", "responses", "told"),
    [
        (
            ("example_session_state_mgmt", "StatefulCounterResourcesServer"),
            {"initial_count": 3, "expected_count": 6},
            [tool_call("increment_counter", count=n) for n in (1, "x", 2)],
            ['{"success":true}', '{"detail"'],
        ),
        (
            ("example_multi_turn_gymnasium", "ExampleMultiTurnEnv"),
            {"follow_ups": ["Why?"], "expected_answer": "6"},
            ["because", "6"],
            ["Why?"],
        ),
    ],
)
def test_nemo_gym_server_is_an_environment(
    gym_python: str,
    tmp_path: Path,
    monkeypatch: Any,
    server: Any,
    row: Any,
    responses: Any,
    told: Any,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    tools = [{"type": "function", "name": "increment_counter", "parameters": {}, "strict": False}]
    row |= {"responses_create_params": {"input": "add 1, then 2", "tools": tools}}
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        "from prorl_verifiers.adapters.nemo_gym import environment_from_nemo_gym\n"
        f"SPEC = environment_from_nemo_gym('http://127.0.0.1:{port}')\n"
    )
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    plugins.use_plugins([plugin])
    process = subprocess.Popen([gym_python, "-c", SERVER, *server, str(port)], cwd=tmp_path)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.2)
        with VerifierPool(workers=1) as pool:
            verdict, messages = converse(pool, "nemo-gym", {"row": row}, responses)
    finally:
        process.terminate()
        process.wait(60)
    assert (verdict.reward, verdict.status) == (1.0, "scored"), verdict.reason
    assert all(map(str.startswith, messages, told)) and len(messages) == len(told)


def test_nemo_gym_reads_the_reply_of_the_service(gym_python: str, server_url: str) -> None:
    part = {"type": "output_text", "text": r"\boxed{6}", "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    response = {"id": "r", "created_at": 0, "model": "m", "object": "response", "tools": []}
    response |= {"parallel_tool_calls": True, "tool_choice": "auto"}
    response["output"] = [{**message, "content": [part]}]
    body = {"responses_create_params": {"input": "4 + 2?"}, "response": response}
    command = [gym_python, "-c", CLIENT, server_url, json.dumps(body)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1.0\n"


@pytest.fixture
def server_url(tmp_path: Path) -> Iterator[str]:
    """A running ``prorl verify serve`` with one worker."""
    ready = tmp_path / "ready"
    code = (
        "from pathlib import Path; from prorl_verifiers.serve.options import ServeOptions; "
        "from prorl_verifiers.serve.run import serve; "
        f"serve(ServeOptions(port=0, workers=1, timeout=30, ready_file=Path({str(ready)!r})))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + 60
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < limit
            time.sleep(0.05)
        yield ready.read_text().strip()
    finally:
        process.terminate()
        assert process.wait(60) == 0
