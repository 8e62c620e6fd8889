"""The requests of the reward service's load test: mixed items with known rewards, and hostile ones."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

HOSTILE_ANSWERS = (
    r"\boxed{2^{2^{40}}}",
    r"\boxed{10^{10^{10}}}",
    r"\boxed{\sum_{k=1}^{10^9} \frac{1}{k^2}}",
    r"\boxed{9^{9^{9}}}",
    r"\boxed{((10^9)!)!}",
    r"\boxed{" + "(" * 400 + "x" + ")" * 400 + "}",
    r"\boxed{" + "9" * 200_000 + "}",
    r"\boxed{__import__('os').system('touch /tmp/prorl-was-here')}",
)
BODY_LIMIT_MB = 1


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, with the expected status and rewards (None: no verdicts expected)."""

    kind: str
    body: bytes
    status: int
    rewards: tuple[float, ...] | None


class ItemMaker:
    """Makes small items of every verifier with their expected rewards."""

    def __init__(self, seed: int) -> None:
        import reasoning_gym

        self._random = random.Random(seed)
        self._logic = list(reasoning_gym.create_dataset("chain_sum", size=50, seed=seed))
        self._kinds = ["math"] * 8 + ["stem"] * 4 + ["instruction"] * 4 + ["logic"] * 3 + ["code"]

    def item(self) -> tuple[dict[str, Any], float]:
        """Return (item, expected reward)."""
        kind = self._random.choice(self._kinds)
        right = self._random.random() < 0.5
        reference, good, bad = getattr(self, f"_{kind}_item")()
        task = {"verifier": kind, "reference": reference}
        return {"task": task, "response": good if right else bad}, float(right)

    def _math_item(self) -> tuple[Any, str, str]:
        top, bottom = self._random.randint(1, 60), self._random.choice([7, 11, 13])
        gold = rf"\frac{{{top}}}{{{bottom}}}"
        return (
            {"answer": gold},
            rf"So \boxed{{{top}/{bottom}}}.",
            rf"So \boxed{{{top + 1}/{bottom}}}.",
        )

    def _stem_item(self) -> tuple[Any, str, str]:
        choices = ["one", "two", "three", "four"]
        place = self._random.randrange(4)
        reference = {"answer": "ABCD"[place], "choices": choices}
        return reference, rf"\boxed{{{'ABCD'[place]}}}", rf"\boxed{{{'ABCD'[place - 1]}}}"

    def _instruction_item(self) -> tuple[Any, str, str]:
        reference = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
        return reference, "No such mark is here.", "One, two."

    def _logic_item(self) -> tuple[Any, str, str]:
        entry = self._random.choice(self._logic)
        plain = json.loads(json.dumps(entry))
        answer = int(entry["answer"])
        reference = {"dataset": "chain_sum", "entry": plain}
        return reference, f"<answer>{answer}</answer>", "<answer>none</answer>"

    def _code_item(self) -> tuple[Any, str, str]:
        number = self._random.randint(1, 99)
        reference = {"tests": [{"stdin": f"{number}\n", "stdout": f"{number + 1}\n"}]}
        program = "```python\nprint(int(input()) + {})\n```"
        return reference, program.format(1), program.format(2)


def make_requests(count: int, hostile: float, seed: int = 0) -> list[Ask]:
    """Return ``count`` requests, a share of them ``hostile``. Equal arguments give equal requests."""
    chance = random.Random(seed)
    maker = ItemMaker(seed)
    return [
        _hostile(chance, maker) if chance.random() < hostile else _plain(chance, maker)
        for _ in range(count)
    ]


def _plain(chance: random.Random, maker: ItemMaker) -> Ask:
    made = [maker.item() for _ in range(chance.randint(1, 8))]
    body = json.dumps({"items": [item for item, _ in made]}).encode()
    return Ask("plain", body, 200, tuple(reward for _, reward in made))


def _hostile(chance: random.Random, maker: ItemMaker) -> Ask:
    item, reward = maker.item()
    kind = chance.choice(["answer", "answer", "task", "json", "huge"])
    if kind == "answer":
        task = {"verifier": "math", "reference": {"answer": "x+7"}}
        bad = {"task": task, "response": chance.choice(HOSTILE_ANSWERS)}
        return Ask(
            "hostile answer", json.dumps({"items": [item, bad]}).encode(), 200, (reward, 0.0)
        )
    if kind == "task":
        wrong = chance.choice(
            [
                {"verifier": "mth", "reference": {"answer": "4"}},
                {"verifier": "code", "reference": {"tests": []}},
                {"verifier": "logic", "reference": {"dataset": "no_such", "entry": {}}},
                {"verifier": "math", "reference": "{"},
            ]
        )
        rows = [item, {"task": wrong, "response": "4"}]
        return Ask("malformed task", json.dumps({"items": rows}).encode(), 422, None)
    if kind == "json":
        return Ask("broken JSON", json.dumps(item).encode()[:-3], 400, None)
    return Ask("huge body", b" " * (BODY_LIMIT_MB * 1024 * 1024 + 1000), 413, None)
