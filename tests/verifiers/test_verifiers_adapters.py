from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from prorl_common import ServiceError, UserError
from prorl_verifiers import Task, TaskError, Verdict, VerifierPool, parse_modes
from prorl_verifiers.adapters import (
    RewardUnavailableError,
    ScorerOptions,
    close_shared,
    common,
    make_trl_reward,
)
from prorl_verifiers.adapters.common import completion_text
from prorl_verifiers.adapters.openrlhf import response_after_prompt, rollout_item
from prorl_verifiers.adapters.trl import default_on_infra_error
from prorl_verifiers.adapters.verifiers import reward as verifiers_reward
from prorl_verifiers.adapters.verl import compute_score, compute_score_batch, verl_task

FOUR = {"answer": "4"}
LABEL = json.dumps({"verifier": "math", "reference": FOUR})


class Fake:
    """Accept responses that contain the answer; give no verdict for the word 'late' ``down`` times."""

    def __init__(self, down: int = 0) -> None:
        self.down = down
        self.calls: list[list[str]] = []

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.calls.append([text for text, _ in items])
        broken = self.down > 0
        self.down -= 1
        return [
            Verdict(None, "infra_error", "down")
            if broken and "late" in text
            else Verdict(float(str(task.reference["answer"]) in text), "scored", "fake", text)
            for text, task in items
        ]

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(common, "sleep", lambda _seconds: None)
    yield
    close_shared()


def use(monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    monkeypatch.setattr(common, "open_scorer", lambda _options: fake)


def test_trl_rewards_come_in_order_for_text_and_chat() -> None:
    reward = make_trl_reward(Fake())
    chat = [{"role": "assistant", "content": "it is 4"}]
    columns = {"verifier": ["math"] * 3, "reference": [FOUR, json.dumps(FOUR), FOUR]}
    assert reward(["p"] * 3, ["4", "5", chat], **columns) == [1.0, 0.0, 1.0]
    assert reward(["p"], ["4"], task=[LABEL]) == [1.0]
    assert reward.__name__ == "prorl_reward"
    assert make_trl_reward(Fake(), name="right").__name__ == "right"


def test_trl_gets_none_without_a_verdict_and_for_rows_of_others() -> None:
    reward = make_trl_reward(Fake(down=9), retries=1)
    columns = {"verifier": ["math", None, "math"], "reference": [FOUR, None, FOUR]}
    assert reward(["p"] * 3, ["late 4", "4", "4"], **columns) == [None, None, 1.0]


def test_a_missing_verdict_is_tried_again_alone() -> None:
    fake = Fake(down=1)
    reward = make_trl_reward(fake)
    assert reward(["p"] * 2, ["late 4", "4"], task=[LABEL] * 2) == [1.0, 1.0]
    assert fake.calls == [["late 4", "4"], ["late 4"]]


def test_trl_raises_when_asked_to() -> None:
    reward = make_trl_reward(Fake(down=9), on_infra_error="raise", retries=1)
    with pytest.raises(RewardUnavailableError):
        reward(["p"], ["late"], task=[LABEL])
    with pytest.raises(UserError, match="on_infra_error"):
        make_trl_reward(on_infra_error="zero")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("version", "kind"), [("1.16.0", "none"), ("1.6.0", "none"), ("0.29.1", "raise")]
)
def test_a_trl_that_makes_none_a_zero_gets_an_exception(
    monkeypatch: pytest.MonkeyPatch, version: str, kind: str
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _name: version)
    assert default_on_infra_error() == kind
    reward = make_trl_reward(Fake(down=9), retries=0)
    if kind == "raise":
        with pytest.raises(RewardUnavailableError):
            reward(["p"], ["late"], task=[LABEL])
    else:
        assert reward(["p"], ["late"], task=[LABEL]) == [None]


def test_trl_logs_shares_of_what_could_not_be_read() -> None:
    logged: dict[str, float] = {}
    reward = make_trl_reward(Fake(down=9), retries=0)
    reward(["p"] * 2, ["late", "4"], task=[LABEL] * 2, log_metric=logged.__setitem__)
    assert logged["verify/infra_error"] == 0.5 and logged["verify/timeout"] == 0.0


def test_trl_names_what_the_dataset_lacks() -> None:
    reward = make_trl_reward(Fake())
    with pytest.raises(UserError, match="'verifier' and 'reference'"):
        reward(["p"], ["4"], answer=["4"])
    with pytest.raises(TaskError, match="did you mean 'math'"):
        reward(["p"], ["4"], verifier=["mth"], reference=[FOUR])


def test_a_trl_reward_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(make_trl_reward(workers=3)))
    assert copy.__name__ == "prorl_reward"


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ([{"role": "assistant", "content": "a"}, {"role": "tool", "content": "b"}], "a"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}], "ab"),
        ([{"role": "assistant", "content": None}], ""),
        ([], ""),
    ],
)
def test_the_text_of_a_completion_is_the_last_assistant_message(completion: Any, text: str) -> None:
    assert completion_text(completion) == text


@pytest.mark.parametrize(
    ("source", "truth", "info"),
    [
        ("prorl/math", json.dumps(FOUR), None),
        ("anything", FOUR, {"verifier": "math"}),
        ("anything", LABEL, {}),
        ("anything", json.loads(LABEL), None),
        ("prorl/math/gsm8k", "4", {"index": 3}),
    ],
)
def test_verl_tasks_are_found_in_every_documented_place(source: str, truth: Any, info: Any) -> None:
    assert verl_task(source, truth, info) == Task("math", FOUR)


def test_verl_gold_that_looks_like_an_object_is_a_gold_answer() -> None:
    assert verl_task("prorl/math", r"{1, 2}").reference == {"answer": "{1, 2}"}


def test_verl_says_where_the_verifier_belongs() -> None:
    with pytest.raises(TaskError, match=r"extra_info\['verifier'\]"):
        verl_task("openai/gsm8k", "4", {})
    with pytest.raises(TaskError, match="JSON"):
        verl_task("prorl/code", "print(1)")


def test_verl_scores_have_the_same_keys_and_the_batch_agrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, Fake())
    one = [compute_score("prorl/math", text, "4", {"index": 1}) for text in ("4", "5")]
    assert [row["score"] for row in one] == [1.0, 0.0] and set(one[0]) == set(one[1])
    many = compute_score_batch(["prorl/math"] * 2, ["4", "5"], ["4"] * 2, [None] * 2)
    assert many == one


def test_verl_raises_rather_than_giving_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Fake(down=9))
    with pytest.raises(RewardUnavailableError) as error:
        compute_score("prorl/math", "late", "4", retries=1)
    assert isinstance(error.value, ServiceError) and not isinstance(error.value, TimeoutError)


def test_verls_own_arguments_are_ignored_and_unknown_ones_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, Fake())
    assert compute_score("prorl/math", "4", "4", reward_router_address="x")["score"] == 1.0
    with pytest.raises(UserError, match="did you mean 'timeout'"):
        compute_score("prorl/math", "4", "4", timout=3)


def test_a_reward_for_verifiers_is_scored_from_the_last_reply_or_raises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def scored(reply: str, **data: Any) -> float:
        trace = SimpleNamespace(last_reply=reply)
        return asyncio.run(verifiers_reward(SimpleNamespace(**data), trace))

    use(monkeypatch, Fake())
    assert scored("4", task={"verifier": "math", "reference": FOUR}) == 1.0
    assert scored("5", verifier="math", reference=json.dumps(FOUR)) == 0.0
    with pytest.raises(UserError, match="'verifier' and 'reference'"):
        scored("4", verifier="math")
    use(monkeypatch, Fake(down=9))
    close_shared()
    with pytest.raises(RewardUnavailableError):
        scored("late", task=LABEL)


def test_openrlhf_gets_float_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from prorl_verifiers.adapters.openrlhf import reward_func

    use(monkeypatch, Fake())
    found = reward_func(["Q: 4", "Q: 5"], ["Q: ", "Q: "], [LABEL, LABEL])
    assert found["rewards"].tolist() == found["scores"].tolist() == [1.0, 0.0]
    assert found["rewards"].dtype == torch.float32
    assert {value.shape for value in found["extra_logs"].values()} == {(2,)}
    use(monkeypatch, Fake(down=9))
    close_shared()
    monkeypatch.setenv("PRORL_RETRIES", "1")
    with pytest.raises(RewardUnavailableError):
        reward_func(["Q: late"], ["Q: "], [LABEL])


def test_openrlhf_without_a_label_or_prompt_is_a_malformed_task() -> None:
    with pytest.raises(TaskError, match="label_key"):
        rollout_item("Q: 4", "Q: ", "")
    with pytest.raises(TaskError, match="prompt"):
        rollout_item("something else", "Q: 2+2?", LABEL)


SHOTS = "".join(
    f"What is {n}+2? Think step by step and put the final answer in a box.<|im_end|>\nassistant:"
    for n in (1, 1, 1, 2)
)
LONG = "system text. " * 40 + "What is 2+2?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("Q: so 4<|im_end|>", "Q:", " so 4"),
        ("Q: so 4<|im_end|>\n<|endoftext|>", "Q:", " so 4"),
        ("Q:", "Q:", ""),
        ("Q: <p>a</p>\n", "Q:", " <p>a</p>\n"),
        (LONG[200:] + "4", LONG, "4"),
        ("�" + LONG[300:] + "4" + LONG, LONG, "4" + LONG),
        ("<s>  " + LONG + "4</s>", "<s>" + LONG, "4"),
        (SHOTS[150:] + "4", SHOTS, "4"),
        ("no prompt here", LONG, None),
        ("x" * 2000 + LONG + "4", LONG, None),
        ("A: <think>\nhm</think>4", "A: <think>\n", "<think>hm</think>4"),
    ],
)
def test_the_response_is_what_follows_the_prompt(
    query: str, prompt: str, response: str | None
) -> None:
    assert response_after_prompt(query, prompt) == response


def test_options_come_from_arguments_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRORL_WORKERS", "7")
    monkeypatch.setenv("PRORL_ALLOW_WEAK", "true")
    found = ScorerOptions.from_environment(timeout="3", workers=2)
    assert (found.workers, found.timeout, found.allow_weak) == (2, 3.0, True)
    assert ScorerOptions.from_environment().workers == 7
    with pytest.raises(UserError, match="number"):
        ScorerOptions.from_environment(workers="many")
    with pytest.raises(UserError, match="true or false"):
        ScorerOptions.from_environment(think_open="perhaps")


def test_an_open_thinking_is_put_before_the_response() -> None:
    fake = Fake()
    make_trl_reward(fake, think_open=True)(["p"], ["hm</think>4"], task=[LABEL])
    assert fake.calls == [["<think>hm</think>4"]]


def test_modes_are_pairs_of_known_words() -> None:
    assert parse_modes("math=either, logic=reference") == {"math": "either", "logic": "reference"}
    assert parse_modes([]) == {}
    for wrong in ("math", "maths=either", "math=lenient"):
        with pytest.raises(UserError):
            parse_modes(wrong)


def test_threads_share_one_real_pool_and_a_fork_opens_its_own() -> None:
    found: list[float] = []

    def score(text: str) -> None:
        row = compute_score("prorl/math", text, "4", workers=2, timeout=30)
        found.append(row["score"])

    threads = [threading.Thread(target=score, args=(rf"\boxed{{{n % 2 + 4}}}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [0.0] * 4 + [1.0] * 4
    options = ScorerOptions(workers=2, timeout=30)
    pool = common.shared_scorer(options)
    assert isinstance(pool, VerifierPool) and common.shared_scorer(options) is pool
    close_shared()
    assert common.shared_scorer(options) is not pool


FORK = r"""
import os, sys
from prorl_verifiers.adapters.verl import compute_score
def score():
    return compute_score("prorl/math", r"\boxed{4}", "4", workers=1, timeout=30)["score"]
assert score() == 1.0
child = os.fork()
if child == 0:
    code = 0 if score() == 1.0 else 3
    from prorl_verifiers.adapters import close_shared
    close_shared()
    os._exit(code)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert score() == 1.0
print("both")
"""


def test_a_forked_child_scores_with_its_own_pool_and_leaves_the_parents() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ),
    )
    assert run.stdout.strip() == "both", run.stderr


def test_importing_the_adapters_imports_no_trainer_and_no_torch() -> None:
    source = (
        "import sys; import prorl_verifiers.adapters.openrlhf, prorl_verifiers.adapters.verl; "
        "print([m for m in ('torch', 'trl', 'verl', 'openrlhf', 'starlette') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True, timeout=60
    )
    assert run.stdout.strip() == "[]", run.stderr
