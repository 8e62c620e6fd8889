"""Right answers of a checkpoint on the held-out items, counted by prorl's own verifiers.

The same seeds for every checkpoint. Equal answers to one item are judged once. Leaves out: pass@k and
its intervals (``small_stats``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from small_study import Groups, Sampling
from small_tasks import Item

from prorl_common import ServiceError, atomic_write_text, derive_seed
from prorl_verifiers import Task, Verdict

ROWS = 512
FULL_MARKS = 1 - 1e-9


def evaluate(
    model: Path, groups: Groups, pool: Any, sampling: Sampling, done: Path
) -> dict[str, dict[str, Any]]:
    """Return for each group {"correct": right answers of each item, "tokens": mean response length}.

    Each finished group is kept in the folder ``done``, so that a killed evaluation goes on from there. Raises
    ServiceError when an answer got no verdict.
    """
    import torch

    from prorl_inference import TransformersGenerator, load_model

    policy, tokenizer = load_model(model, "cpu", torch.float32)
    generator = TransformersGenerator(policy, tokenizer, batch_size=ROWS)
    done.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {}
    for name, items in groups.items():
        kept = done / f"{name.replace('/', '-')}.json"
        if kept.is_file():
            found[name] = json.loads(kept.read_text(encoding="utf-8"))
            continue
        answers = _answers(generator, name, items, sampling)
        asked = {(text, i): items[i].check for i, texts in enumerate(answers) for text, _ in texts}
        verdicts = _verdicts(pool, asked)
        tokens = [count for texts in answers for _, count in texts]
        found[name] = {
            "correct": [
                sum((verdicts[text, i].reward or 0.0) >= FULL_MARKS for text, _ in texts)
                for i, texts in enumerate(answers)
            ],
            "tokens": round(sum(tokens) / len(tokens), 3),
        }
        atomic_write_text(kept, json.dumps(found[name]))
    return found


def _answers(
    generator: Any, name: str, items: Sequence[Item], sampling: Sampling
) -> list[list[tuple[str, int]]]:
    from prorl_inference import Request, SamplingParams

    requests = [
        Request(
            ({"role": "user", "content": item.prompt},),
            tuple(
                derive_seed(sampling.seed, "sample", name, i, k) for k in range(sampling.samples)
            ),
        )
        for i, item in enumerate(items)
    ]
    params = SamplingParams(
        temperature=sampling.temperature, top_p=1.0, max_tokens=sampling.max_tokens
    )
    return [
        [(c.text, len(c.token_ids)) for c in completions]
        for completions in generator.generate(requests, params)
    ]


def _verdicts(pool: Any, asked: Mapping[tuple[str, int], Task]) -> dict[tuple[str, int], Verdict]:
    verdicts = pool.score([(text, check) for (text, _), check in asked.items()])
    broken = sum(v.is_infra_error for v in verdicts)
    if broken:
        raise ServiceError(f"{broken} of {len(verdicts)} answers got no verdict: run it again")
    return dict(zip(asked, verdicts, strict=True))
