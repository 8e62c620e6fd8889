from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import InProcess

from prorl_common import UserError, plugins
from prorl_datasets import Sample
from prorl_inference import Completion, Request
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.types import Ended
from prorl_training.config import SafetyConfig, TrainConfig
from prorl_training.engine.builder import check_history
from prorl_training.engine.openrlhf.launch.session import refuse_environments
from prorl_training.policy.packing import PromptGroup, build_pack, build_packs
from prorl_training.policy.update import Policy, build_update
from prorl_training.rollout.collector import Collector
from prorl_training.run.metrics import batch_metrics
from prorl_training.schedule.safety import Guard
from prorl_training.schedule.validation import validate
from prorl_training.testing import EchoGenerator, EchoStream, named_sample
from prorl_training.types import Batch, Carried, Group, Trajectory
from prorl_verifiers import Task, Verdict

MISBEHAVING = Path(__file__).parents[1] / "plugins" / "misbehaving" / "environments.py"
ANSWER = (50, 51, 52)
"""Tokens of an environment's answer in these tests."""


@pytest.fixture(autouse=True)
def environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    plugins.use_plugins([MISBEHAVING])


class Script(EchoGenerator):
    """Says the words of the prompt one after the other, a word a turn, of one token each; ``cut`` is cut by the limit."""

    def stream(self, params: Any, on_done: Any = None) -> ScriptStream:
        return ScriptStream(self, on_done)


class ScriptStream(EchoStream):
    def take(self, wait: float | None = None) -> list[Ended]:
        if not self._open:
            return []
        key = min(self._open, key=lambda key: (len(self._begun(key, 0).given), key))
        self._taken += 1
        indices = range(len(self._open[key].seeds))
        said = [_say(self._open[key], index, self._begun(key, index)) for index in indices]
        del self._open[key]
        return [(key, said)]

    def stop(self) -> list[Ended]:
        return [(key, [self._begun(key, index) for index in range(2)]) for key in self._open]

    def _begun(self, key: int, index: int) -> Completion:
        begun = self._open[key].begun
        return begun[index] if begun else Completion("", (), (), "paused")


def _say(request: Request, index: int, begun: Completion) -> Completion:
    if begun.finish_reason != "paused":
        return begun
    words = str(request.prompt[0]["content"]).split()
    turn = len(begun.given)
    word = words[turn] if index == 0 or turn == 0 else "end"
    return replace(
        begun,
        text=word,
        token_ids=(*begun.token_ids, turn),
        logprobs=(*begun.logprobs, -0.5),
        finish_reason="length" if word == "cut" else "stop",
    )


def samples_of(*scripts: str) -> list[Sample]:
    return [replace(named_sample(script), task=Task("turns", {})) for script in scripts]


def config_of(late: str = "wait", prompts: int = 1, **rollout: Any) -> TrainConfig:
    sizes = {"prompts": prompts, "samples": 2, "max_tokens": 20, "turns": 3} | rollout
    sampling = {"enabled": late != "wait", "late": late, "rule": "open_interval"}
    return TrainConfig.model_validate(
        {"rollout": sizes, "loss": {"mini_batches": 1}, "dynamic_sampling": sampling}
    )


def collector_of(scorer: Any = None) -> Collector:
    guard = Guard(SafetyConfig(infra_rate=1.0))
    return Collector(
        Script(),
        scorer or InProcess(),
        guard,
        sleep=lambda seconds: None,
        encode_answer=lambda messages, answer, last: ANSWER,
    )


def first_of(batch: Batch) -> Trajectory:
    return batch.sampled[0].trajectories[0]


@pytest.mark.parametrize(
    ("script", "room", "turns", "reward", "ended", "tokens"),
    [
        ("end", 20, 1, 1.0, "answer", 1),
        ("go end", 20, 2, 1.0, "answer", 5),
        ("go go end", 20, 3, 0.5, "answer", 9),
        ("go go go go", 20, 3, 0.5, "turns", 9),
        ("go cut", 20, 2, 1.0, "tokens", 5),
        ("cut", 20, 1, 1.0, "tokens", 1),
        ("go go end", 4, 1, 1.0, "tokens", 1),  # no room for another response
    ],
)
def test_a_rollout_ends_by_the_environment_or_a_limit_which_is_recorded(
    script: str, room: int, turns: int, reward: float, ended: str, tokens: int
) -> None:
    config = config_of(max_tokens=room)
    trajectory = first_of(collector_of().collect(iter(samples_of(script)), 1, config))
    assert (trajectory.reward, trajectory.ended) == (reward, ended)
    assert trajectory.truncated == (ended == "tokens")
    words = script.split()[:turns]
    said = [{"role": "assistant", "content": word} for word in words]
    answers = [{"role": "user", "content": f"turn {number}"} for number in range(turns - 1)]
    assert list(trajectory.turns[::2]) == said and list(trajectory.turns[1::2]) == answers
    completion = trajectory.completion
    assert (completion.text, len(completion.token_ids)) == (words[-1], tokens)
    assert completion.given == tuple((1 + 4 * i, 4 + 4 * i) for i in range(turns - 1))
    assert [completion.token_ids[i] for i in range(0, tokens, 4)] == list(range(turns))


def test_an_environment_that_raises_masks_that_rollout_alone() -> None:
    batch = collector_of().collect(iter(samples_of("go raise")), 1, config_of())
    broken, other = batch.sampled[0].trajectories
    assert broken.verdict.is_infra_error and not broken.scored and broken.turns
    assert other.scored and other.reward == 1.0


def test_a_missing_verdict_is_scored_again_in_its_own_turn() -> None:
    scorer = InProcess()
    collector = collector_of(scorer)
    collector.sleep = lambda seconds: setattr(scorer, "away", False)
    collector.guard = Guard(SafetyConfig(infra_rate=0.1))
    batch = collector.collect(iter(samples_of("go down end")), 1, config_of())
    assert first_of(batch).verdict.reason == "3 turns"
    assert scorer.asked.count("down") == 2 and scorer.asked.count("go") == 2
    assert batch_metrics(batch, [])["turns_mean"] == (3 + 2) / 2


def test_a_conversation_is_carried_between_turns_and_finished_ones_keep_their_verdict() -> None:
    scorer = InProcess()
    collector = collector_of(scorer)
    scripts = samples_of("go go end", "go go go", "go end", "go go end")
    config = config_of("carry", prompts=2, turns=3)
    first = collector.collect(iter(scripts), 1, config)
    late = {group.sample.id: group for group in first.late}
    assert late and len(late) + len(first.sampled) <= len(scripts)
    between = [talk for group in first.late for talk in group.conversations]
    assert any(talk.state is not None for talk in between)
    second = collector.collect(iter(()), 2, config, Carried(late=first.late))
    for group in second.sampled:
        alone = first_of(collector_of().collect(iter(samples_of(group.sample.id)), 1, config_of()))
        trajectory = group.trajectories[0]
        assert trajectory.turns == alone.turns and trajectory.verdict == alone.verdict
        assert trajectory.completion == alone.completion
        assert group.step == 1 and {policy for _, policy in trajectory.policies} == {0, 1}


def test_new_weights_between_requests_are_taken_between_turns_too() -> None:
    class Newer:
        loaded = 0

        def newer_weights(self) -> bool:
            return self.loaded == 0

        def refresh(self) -> int:
            self.loaded = 5
            return 5

    ahead: Any = Newer()
    scripts = ("go go end", "go end", "go go end", "end")
    config = config_of(prompts=4, staleness=1, new_weights="request")
    # verdicts come at once, so some conversation is always in progress
    at_once = config.reward.model_copy(update={"overlap": False})
    config = config.model_copy(update={"reward": at_once})
    batch = collector_of().collect(iter(samples_of(*scripts)), 1, config, policy=0, ahead=ahead)
    for group, script in zip(batch.sampled, scripts, strict=True):
        alone = first_of(collector_of().collect(iter(samples_of(script)), 1, config_of()))
        assert group.trajectories[0].turns == alone.turns
        policies = {policy for _, policy in group.trajectories[0].policies}
        assert policies == ({0, 5} if script.startswith("go") else {0})


def trained_group(tokens: tuple[int, ...], given: tuple[tuple[int, int], ...]) -> Group:
    completion = Completion("x", tokens, (-0.5,) * len(tokens), "stop", given=given)
    trajectories = [
        Trajectory(i, completion, Verdict(float(i), "scored", ""), float(i)) for i in (0, 1)
    ]
    return Group(named_sample("x"), tuple(trajectories), 1)


def test_tokens_of_an_environment_have_no_gradient_and_no_weight() -> None:
    config = TrainConfig.model_validate({"loss": {"mini_batches": 1}, "rollout": {"prompts": 1}})
    tokens, given = (10, 11, *ANSWER, 12, *ANSWER, 13, 14), ((2, 5), (6, 9))
    policy = Policy(tiny_model(seed=1, spread=0.3), config, torch.float32)
    update = build_update(
        [trained_group(tokens, given)], torch.tensor([1.0, -1.0]), 1, config, lambda s: (1, 2)
    )
    assert update is not None
    assert [len(values) for values in update.sampler_logprobs] == [5, 5]
    (pack,) = build_packs(update.mini_batches[0], 100)
    sampled = [0, 1, 5, 9, 10]
    assert pack.targets.tolist() == [tokens[i] for i in sampled] * 2 and pack.lengths == (5, 5)
    ids = torch.tensor([[1, 2, *tokens]])
    logprobs = policy.model(ids).logits[0].log_softmax(-1)
    plain = torch.stack([logprobs[1 + i, tokens[i]] for i in sampled])
    plain.sum().backward()  # type: ignore[no-untyped-call]
    expected = [p.grad.clone() for p in policy.trained if p.grad is not None]
    for part in (pack, build_pack([PromptGroup((1, 2), (tokens,), (0,), (given,))])):
        policy.model.zero_grad()
        found, _ = policy.target_logprobs(part)
        for row in found.reshape(-1, 5):
            assert torch.allclose(row, plain, atol=1e-5)
        found[:5].sum().backward()  # type: ignore[no-untyped-call]
        gradients = [p.grad for p in policy.trained if p.grad is not None]
        assert all(
            torch.allclose(a, b, atol=1e-5) for a, b in zip(gradients, expected, strict=True)
        )


def test_validation_plays_the_environments() -> None:
    once = config_of().validation.model_copy(update={"samples": 1})
    config = config_of().model_copy(update={"validation": once})
    scripts = samples_of("go go end", "go end", "end")
    result = validate(
        scripts,
        config,
        Script(),
        InProcess(),
        encode_answer=lambda messages, answer, last: ANSWER,
    ).result
    assert result is not None and result.rewards == (0.5, 1.0, 1.0)


def test_a_template_that_rewrites_earlier_turns_is_refused_before_training() -> None:
    tokenizer: Any = byte_tokenizer()
    tokenizer.chat_template = tokenizer.chat_template.replace(
        "m['content']", "m['content'].split('</think>')[-1]"
    )
    with pytest.raises(UserError, match=r"thinking of earlier turns: set rollout\.history=kept"):
        check_history(TrainConfig(), tokenizer)
    check_history(config_of(history="kept"), tokenizer)
    check_history(TrainConfig(), byte_tokenizer())


def test_the_cluster_engine_refuses_environments_before_it_starts() -> None:
    refuse_environments([named_sample("x")])
    with pytest.raises(UserError, match=r"environments, such as turns: use engine=local"):
        refuse_environments(samples_of("go"))
