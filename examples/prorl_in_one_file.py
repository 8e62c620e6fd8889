"""ProRL v2 from top to bottom, with torch and Transformers alone.

    python examples/prorl_in_one_file.py --tiny          # a random Llama, on any CPU
    python examples/prorl_in_one_file.py --model FOLDER  # any causal language model

Prolonged RL is a policy gradient that stays stable for thousands of steps. Five things keep it stable: prompts whose
answers all get the same reward are dropped, the probability of a good token may rise by more than that of a bad one may
fall, a weak KL term ties the policy to a reference, the reference is reset to the policy now and then, and a length
penalty is active in some steps only. The numbers are those of the preset `prorl-v2`, which names their sources.

The last letters of a tensor's name are its shape: G groups (one per prompt) of N responses, B = G * N, P tokens of a
prompt, T of a response, L = P + T, V tokens in the vocabulary. Validation, checkpoints, safe verifiers, resets after a
KL spike or a stall, and speed are left to `prorl train`.
"""

import argparse
import copy
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from torch import Tensor

hf: Any = transformers


@dataclass(frozen=True)
class Config:
    """The values of `prorl-v2`. Some are smaller, to fit one machine; their comments have the preset's values."""

    groups: int = 4  # G; 256
    samples: int = 8  # N; 16
    max_tokens: int = 16  # T at most; 8192
    max_batches: int = 10  # draw at most max_batches * G prompts to find G that teach
    mini_batches: int = 4  # gradient updates a step
    clip_low: float = 0.2
    clip_high: float = (
        0.28  # Clip-Higher: above clip_low, so that rare good tokens can become common
    )
    kl_coefficient: float = 1e-4
    kl_clamp: float = 10.0  # of the log-ratio to the reference, in nats
    penalty_weight: float = 1.0
    eta_max: float = 0.0  # what an empty response gets
    eta_min: float = -0.5  # what one at the limit gets
    penalty_start: int = 401  # first step of the first window
    penalty_on: int = 100
    penalty_off: int = 500
    reset_every: int = 300
    clear_optimizer: bool = False  # at a reset; v1 does
    lr: float = 2e-6
    grad_clip: float = 1.0
    seed: int = 0


# ---- 1. A task that a program can check ----


def draw_problem(rng: random.Random) -> tuple[str, str]:
    """Return a question and its answer, a digit."""
    a = rng.randint(0, 9)
    b = rng.randint(0, 9 - a)
    return f"{a}+{b}", str(a + b)


def reward_of(text: str, gold: str) -> float:
    """Return 1 if the first digit of the response is the answer, else 0. No model judges."""
    return float(next((c for c in text if c.isdigit()), "") == gold)


# ---- 2. Sampling: N responses a prompt, at temperature 1, from the whole distribution ----


@torch.no_grad()
def sample(model: Any, prompt_P: list[int], end: int, config: Config) -> list[list[int]]:
    """Return the token ids of N responses, the end token included."""
    prompt_NP = torch.tensor([prompt_P] * config.samples, device=model.device)
    everything = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    limits = {"max_new_tokens": config.max_tokens, "eos_token_id": end, "pad_token_id": end}
    mask_NP = torch.ones_like(prompt_NP)
    ids_NL = model.generate(prompt_NP, attention_mask=mask_NP, **everything, **limits)
    rows = ids_NL[:, len(prompt_P) :].tolist()
    return [row[: row.index(end) + 1] if end in row else row for row in rows]


def has_spread(rewards_N: list[float]) -> bool:
    """Return whether the raw rewards differ (dynamic sampling). If all are equal, all advantages are 0."""
    return max(rewards_N) - min(rewards_N) > 1e-6


# ---- 3. From rewards to advantages: length penalty, REINFORCE++-baseline ----


def penalty_is_on(step: int, config: Config) -> bool:
    """Return whether a step is in a penalty window: from step 401, 100 steps on and 500 off."""
    since = step - config.penalty_start
    return since >= 0 and since % (config.penalty_on + config.penalty_off) < config.penalty_on


def length_penalty(tokens_GN: Tensor, config: Config) -> Tensor:
    """Return what is added to a reward: a cosine from eta_max (no token) to eta_min (the limit)."""
    progress_GN = (tokens_GN / config.max_tokens).clamp(max=1.0)
    share_GN = 0.5 * (1 + torch.cos(math.pi * progress_GN))  # from 1 to 0
    return config.penalty_weight * (config.eta_min + (config.eta_max - config.eta_min) * share_GN)


def advantages_of(rewards_GN: Tensor) -> Tensor:
    """Subtract the mean of each group (the baseline), then normalise over the batch."""
    centred_GN = rewards_GN - rewards_GN.mean(dim=1, keepdim=True)
    whitened_GN = (centred_GN - centred_GN.mean()) / (centred_GN.std(correction=0) + 1e-8)
    return whitened_GN.flatten()  # (B,)


# ---- 4. The loss ----


def collate(prompts: list[list[int]], responses: list[list[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids_BL and attention_BL, padded on both sides, and mask_BT, true on response tokens."""
    P, T = max(map(len, prompts)), max(map(len, responses))
    ids_BL = torch.zeros(len(prompts), P + T, dtype=torch.long)
    attention_BL = torch.zeros_like(ids_BL)
    for b, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        here = slice(P - len(prompt), P + len(response))
        ids_BL[b, here] = torch.tensor(prompt + response)
        attention_BL[b, here] = 1
    return ids_BL, attention_BL, attention_BL[:, P:].bool()


def logprobs_of(model: Any, ids_BL: Tensor, attention_BL: Tensor, T: int) -> Tensor:
    """Return the log-probability of each of the last T tokens, (B, T)."""
    positions_BL = (attention_BL.cumsum(dim=1) - 1).clamp(min=0)
    out = model(ids_BL, attention_mask=attention_BL, position_ids=positions_BL)
    logits_BTV = out.logits[:, -T - 1 : -1].float()  # each position predicts the next token
    logprobs_BTV: Tensor = logits_BTV.log_softmax(dim=-1)
    return logprobs_BTV.gather(-1, ids_BL[:, -T:, None]).squeeze(-1)


def policy_loss(now_BT: Tensor, old_BT: Tensor, advantages_B1: Tensor, config: Config) -> Tensor:
    """Return PPO's clipped loss of each token, with Clip-Higher; `now` and `old` are log-probabilities."""
    ratio_BT = (now_BT - old_BT).clamp(-20, 20).exp()  # held, or exp could overflow
    clipped_BT = ratio_BT.clamp(1 - config.clip_low, 1 + config.clip_high)
    return -torch.minimum(ratio_BT * advantages_B1, clipped_BT * advantages_B1)


def kl_of(now_BT: Tensor, ref_BT: Tensor, config: Config) -> Tensor:
    """Return the k2 estimate of KL(policy || reference) at each token, whose expected gradient is the KL's."""
    return 0.5 * (now_BT - ref_BT).clamp(-config.kl_clamp, config.kl_clamp) ** 2


# ---- 5. The reset: the policy becomes its own reference ----


def reset(model: Any, reference: Any, optimizer: torch.optim.Optimizer, config: Config) -> None:
    """Copy the policy to the reference, so that the KL is 0. With `clear_optimizer`, discard Adam's state."""
    reference.load_state_dict(model.state_dict())
    if config.clear_optimizer:
        optimizer.state.clear()


# ---- 6. The whole of it ----


def train(model: Any, tokenizer: Any, steps: int, config: Config) -> list[dict[str, float]]:
    """Train the model in place; print a line of metrics for each step, and return them all."""
    rng = random.Random(config.seed)
    torch.manual_seed(config.seed)
    model.float().eval()  # no dropout: what is sampled from and what is trained is one policy
    reference = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0
    )
    history = []
    for step in range(1, steps + 1):
        # Sample until G groups have a spread.
        prompts, responses, rewards, seen = [], [], [], []
        for _ in range(config.groups * config.max_batches):
            question, gold = draw_problem(rng)
            chat = [{"role": "user", "content": question}]
            text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
            prompt_P = tokenizer(text, add_special_tokens=False)["input_ids"]
            responses_N = sample(model, prompt_P, tokenizer.eos_token_id, config)
            texts_N = tokenizer.batch_decode(responses_N, skip_special_tokens=True)
            rewards_N = [reward_of(text, gold) for text in texts_N]
            seen += rewards_N
            if has_spread(rewards_N):
                prompts += [prompt_P] * config.samples
                responses += responses_N
                rewards.append(rewards_N)
            if len(rewards) == config.groups:
                break
        G, N = len(rewards), config.samples
        row = {"step": step, "reward": sum(seen) / len(seen), "used": G * N / len(seen)}

        if G:
            # Advantages; the penalty comes after the filter, which looks at raw rewards.
            rewards_GN = torch.tensor(rewards, dtype=torch.float64)
            tokens_GN = torch.tensor([len(r) for r in responses]).view(G, N)
            if penalty_is_on(step, config):
                rewards_GN = rewards_GN + length_penalty(tokens_GN, config)
            advantages_B1 = advantages_of(rewards_GN)[:, None].float().to(model.device)
            row["tokens"] = float(tokens_GN.double().mean())

            # A gradient update a mini-batch of whole groups; ratios are to the policy before them.
            ids_BL, attention_BL, mask_BT = (
                x.to(model.device) for x in collate(prompts, responses)
            )
            T = mask_BT.shape[1]
            with torch.no_grad():
                old_BT = logprobs_of(model, ids_BL, attention_BL, T)
                ref_BT = logprobs_of(reference, ids_BL, attention_BL, T)
            order = rng.sample(range(G), G)
            parts = min(config.mini_batches, G)
            kl = norm = 0.0
            for i in range(parts):
                b = [g * N + n for g in order[i::parts] for n in range(N)]
                now_BT = logprobs_of(model, ids_BL[b], attention_BL[b], T)
                loss_BT = policy_loss(now_BT, old_BT[b], advantages_B1[b], config)
                kl_BT = kl_of(now_BT, ref_BT[b], config)
                loss = (loss_BT + config.kl_coefficient * kl_BT)[mask_BT[b]].mean()  # token mean
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                norm += float(torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_clip))
                kl += float(kl_BT.detach()[mask_BT[b]].mean())
                optimizer.step()
            row |= {"kl": kl / parts, "grad_norm": norm / parts}

        if step % config.reset_every == 0:
            reset(model, reference, optimizer, config)
        print(" · ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
        history.append(row)
    return history


def tiny() -> tuple[Any, Any]:
    """Return a small random Llama and its tokenizer with one character per token, to try the loop."""
    torch.manual_seed(0)
    vocabulary = {"<end>": 0} | {c: i for i, c in enumerate("0123456789+=", start=1)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<end>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    backend.decoder = tokenizers.decoders.Fuse()
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    tokenizer.chat_template = "{{ messages[0]['content'] }}="
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    llama = hf.LlamaConfig(vocab_size=13, num_attention_heads=4, **shape)
    return hf.LlamaForCausalLM(llama), tokenizer


def main() -> None:
    """Parse the options, load a model and train it."""
    parser = argparse.ArgumentParser(description="ProRL v2 in one file.")
    fetched = Path.home() / ".cache/prorl/models/smollm2-135m"  # by `prorl model fetch`
    parser.add_argument("--model", default=str(fetched), help="a folder or a hub id")
    parser.add_argument("--tiny", action="store_true", help="a random Llama and a short schedule")
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    if given.tiny:
        config = Config(lr=1e-3, penalty_start=11, penalty_on=10, penalty_off=10, reset_every=10)
        train(*tiny(), given.steps, config)
        return
    model = hf.AutoModelForCausalLM.from_pretrained(given.model)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    train(model, hf.AutoTokenizer.from_pretrained(given.model), given.steps, Config())


if __name__ == "__main__":
    main()
