"""The CPU layer in the real OpenRLHF, DeepSpeed and vLLM: every module it changes imports and is changed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from prorl_training.engine.openrlhf.launch.environment import environment

pytestmark = pytest.mark.usefixtures("openrlhf_stack")


def python(code: str) -> str:
    """Run code in a new interpreter with the environment of a CPU run; return its last line."""
    given = {**os.environ, **environment("cpu", 1)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip().splitlines()[-1]


def test_every_function_that_the_layer_replaces_is_ours() -> None:
    code = """
import importlib.util
import deepspeed, openrlhf.models.ring_attn_utils
from openrlhf.models.actor import Actor
from openrlhf.models import utils
from openrlhf.trainer.ppo_utils.replay_buffer import NaiveReplayBuffer
from openrlhf.trainer.ray.vllm_worker_wrap import WorkerWrap
from openrlhf.utils import distributed_util
from openrlhf.utils.deepspeed import deepspeed as strategy
from vllm.model_executor.layers import utils as layers
ours = [Actor.__init__, NaiveReplayBuffer.__init__, WorkerWrap.update_weight,
        distributed_util.stateless_init_process_group, strategy.init_device_mesh,
        strategy.DeepspeedStrategy.get_ds_train_config, strategy.DeepspeedStrategy.moving_average,
        layers.dispatch_cpu_unquantized_gemm]
assert all(f.__module__.startswith("prorl_training.engine.openrlhf.cpu.") for f in ours), ours
assert not hasattr(utils.compute_entropy, "_torchdynamo_orig_callable")
assert importlib.util.find_spec("flash_attn") is None
print(NaiveReplayBuffer(1).target_device)
"""
    assert python(code) == "cpu"


def test_vllm_and_deepspeed_take_the_cpu() -> None:
    code = """
from deepspeed.accelerator import get_accelerator
from vllm.platforms import current_platform
print(current_platform.device_type, get_accelerator().device_name(), get_accelerator().communication_backend_name())
"""
    assert python(code) == "cpu cpu gloo"


def test_passes_without_gradient_hold_no_more_tokens_than_a_gpu_was_said_to() -> None:
    code = """
import random
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from types import SimpleNamespace as N
from prorl_training.engine.openrlhf.actors.experiences import blank_experience, passes
from prorl_training.engine.openrlhf.step import TrainingRow
rng = random.Random(0)
def rows():
    sizes = [rng.randrange(20, 60) for _ in range(24)]
    return [blank_experience(TrainingRow(i, (1,), (2,) * n, 0.0, (0.0,) * n, (0.0,) * n, False), 0) for i, n in enumerate(sizes)]
LIMIT, RANKS = 150, 5
ours = passes(rows()[:20], RANKS, LIMIT, 0)
theirs = object.__new__(RemoteExperienceMaker)
theirs.tokenizer = N(pad_token_id=0)
theirs.args = N(train=N(dynamic_batch_enable=True), rollout=N(max_tokens_per_gpu=LIMIT),
    ds=N(ring_attn_size=1, tensor_parallel_size=1), actor=N(num_nodes=1, num_gpus_per_node=RANKS))
most = [max(float(b.total_length.sum()) for b in found) for found in (ours, theirs.split_rollout_samples(rows()[:20]))]
assert sorted(i for b in ours for i in b.index) == list(range(20))
print(len(ours) % RANKS == 0, most[0] <= LIMIT, most[1] > LIMIT)
"""
    assert python(code) == "True True True"


def test_packed_samples_have_the_log_probs_of_padded_ones() -> None:
    code = """
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from openrlhf.models.actor import Actor
torch.manual_seed(0)
config = LlamaConfig(vocab_size=97, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, attn_implementation="sdpa",
                     use_cache=False)  # as OpenRLHF sets it: with a cache no packing is looked for
model = LlamaForCausalLM(config).eval()
sequences = torch.randint(1, 97, (3, 12))
mask = torch.ones_like(sequences)
mask[1, 7:] = 0
mask[2, :4] = 0
found = []
for packed in (False, True):
    actor = Actor(model, packing_samples=packed)
    actor.packing_samples = packed
    with torch.no_grad():
        found.append(actor(sequences, attention_mask=mask, return_logprobs=True))
both = (mask[:, 1:] * mask[:, :-1]).bool()
print(float((found[0] - found[1])[both].abs().max()) < 1e-4)
"""
    assert python(code) == "True"
