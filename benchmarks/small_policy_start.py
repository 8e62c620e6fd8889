"""Teach a random small policy the form of a conversation with a calculator, and write the base's weights.

python benchmarks/small_policy_start.py docs/evidence/data/environment/base.safetensors
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from small_policy_base import CALL, MARK, POLICIES, held_out_samples, make_model, make_tokenizer
from small_policy_tasks import CALCULATOR, boxed

from prorl_common import atomic_write_bytes, derive_seed
from prorl_inference.tokens import continuation, encode_prompt
from prorl_verifiers.environments.tools import answer_calls, calculator

SEED, STEPS, BATCH, LR, WARM_UP = 2026, 1000, 48, 3.0e-3, 50
TIMES = 0.3
"""Share of short problems, answered at once and rightly. All other problems are of the task ``product``."""
GUESS = 0.6
"""Share of these that are answered at once, with random digits, which are not learnt. The others call the calculator."""
OPERATIONS = {"*": 0.2, "+": 0.4, "-": 0.4}
"""Operation in a call, whose numbers are those of the problem."""
Piece = tuple[str, bool]
"""A text, and whether it is learnt."""


def conversation(rng: random.Random, held_out: set[str]) -> tuple[str, list[list[Piece]]]:
    """Return a problem and the responses shown to it, in pieces."""
    name = "times" if rng.random() < TIMES else "product"
    item = CALCULATOR[name].make(rng, rng.choice(CALCULATOR[name].levels))
    if item.prompt in held_out:
        return conversation(rng, held_out)
    if name == "times":
        return item.prompt, [[(boxed(item.answer), True)]]
    if rng.random() < GUESS:
        digits = len(item.answer)
        guess = str(rng.randint(10 ** (digits - 1), 10**digits - 1))
        return item.prompt, [[(MARK, True), (guess, False), ("}", True)]]
    operation = rng.choices(list(OPERATIONS), list(OPERATIONS.values()))[0]
    call = f"{CALL[0]}{item.prompt.replace('*', operation)}{CALL[1]}"
    (result,) = answer_calls(call, {"calculator": calculator})
    return item.prompt, [[(call, True)], [(boxed(result["content"]), True)]]


def tokens(
    tokenizer: Any, prompt: str, responses: list[list[Piece]]
) -> tuple[list[int], list[int]]:
    """Return a conversation's tokens and labels; labels are -100 where nothing is learnt."""
    messages = [{"role": "user", "content": prompt}]
    ids = encode_prompt(tokenizer, messages)
    labels = [-100] * len(ids)
    for number, pieces in enumerate(responses):
        for text, learnt in [*pieces, (tokenizer.eos_token, True)]:
            piece = tokenizer.encode(text, add_special_tokens=False)
            ids, labels = [*ids, *piece], [*labels, *(piece if learnt else [-100] * len(piece))]
        if number + 1 < len(responses):
            response = "".join(text for text, _ in pieces)
            answer = answer_calls(response, {"calculator": calculator})
            given = continuation(tokenizer, messages, answer, ids[-1])
            ids, labels = [*ids, *given], [*labels, *[-100] * len(given)]
            messages += [{"role": "assistant", "content": response}, *answer]
    return ids, labels


def main(out: Path) -> None:
    """Train and write the weights in half precision."""
    import torch
    from safetensors.torch import save

    torch.set_num_threads(1)
    policy = POLICIES["calculator"]
    tokenizer = make_tokenizer(policy)
    model = make_model(SEED, len(tokenizer), policy.hidden).train()
    held_out = {str(s.prompt[0]["content"]) for s in held_out_samples(policy)}
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.95), weight_decay=0.0)
    for step in range(STEPS):
        rng = random.Random(derive_seed(SEED, "supervised", step))
        rows = [tokens(tokenizer, *conversation(rng, held_out)) for _ in range(BATCH)]
        width = max(len(ids) for ids, _ in rows)
        ids = torch.tensor([row + [256] * (width - len(row)) for row, _ in rows])
        labels = torch.tensor([row + [-100] * (width - len(row)) for _, row in rows])
        for group in optimizer.param_groups:
            group["lr"] = LR * min(1.0, (step + 1) / WARM_UP, 2 * (STEPS - step) / STEPS)
        loss = model(input_ids=ids, attention_mask=(ids != 256).long(), labels=labels).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            print(step, round(float(loss.detach()), 3), flush=True)
    weights = {n: p.detach().to(torch.float16).contiguous() for n, p in model.named_parameters()}
    out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_bytes(out, save(weights))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
