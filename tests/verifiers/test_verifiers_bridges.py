"""Environments of other libraries as prorl environments; tests/integration runs the real ones."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError, plugins
from prorl_verifiers import TaskError, Verdict, VerifierPool, load_task, next_task
from prorl_verifiers.adapters.nemo_gym import environment_from_nemo_gym
from prorl_verifiers.spec import VERIFIERS

TOOL = {"type": "function", "name": "increment_counter", "description": "", "parameters": {}}


class FakeGym(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, steps: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.steps, self.fail = steps, 0
        """Whether it plays by steps, and the status of every answer, unless 0."""
        self.counters: dict[str, int] = {}
        self.posts: list[str] = []

    def reply(self, session: str, path: str, body: Any) -> Any:
        if path == "/openapi.json":
            return {"paths": {"/step": {}, "/reset": {}} if self.steps else {"/verify": {}}}
        self.posts.append(path)
        match path:
            case "/seed_session":
                self.counters[session] = body["initial_count"]
                return {}
            case "/reset":
                self.counters[session] = 0
                return {"observation": "Say go.", "info": {}}
            case "/step":
                self.counters[session] += 1
                text = body["response"]["output"][-1]["content"][0]["text"]
                if text == "go" and self.counters[session] == 2:
                    return {"observation": None, "reward": 1.0, "terminated": True}
                return {"observation": f"That was {self.counters[session]}.", "reward": 0.0}
            case "/increment_counter":
                self.counters[session] += body["count"]
                return {"success": True, "now": self.counters[session]}
            case "/verify":
                right = self.counters[session] == body["expected_count"]
                masked = {"mask_sample": True, "failure_kind": "session_lost"}
                return {**body, "reward": 2.0 * right, **(masked if body.get("lost") else {})}
            case _:
                raise AssertionError(path)


class _Handler(BaseHTTPRequestHandler):
    server: FakeGym

    def do_GET(self) -> None:
        self._answer("", None)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.headers["Cookie"] or f"session={len(self.server.posts)}"
        self._answer(session, body)

    def _answer(self, session: str, body: Any) -> None:
        try:
            status, value = self.server.fail or 200, self.server.reply(session, self.path, body)
        except KeyError as error:
            status, value = 500, {"detail": str(error)}
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Set-Cookie", f"{session}; path=/; httponly")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None: ...


@contextlib.contextmanager
def fake_gym(steps: bool = False) -> Iterator[FakeGym]:
    with FakeGym(steps) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def counter_row(start: int, expected: int, **more: Any) -> dict[str, Any]:
    params = {"input": [{"role": "user", "content": "add 1, then 2"}], "tools": [TOOL]}
    return {
        "responses_create_params": params,
        "initial_count": start,
        "expected_count": expected,
        **more,
    }


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


ADD_1, ADD_2 = call("increment_counter", count=1), call("increment_counter", count=2)


class Player:
    """Plays the environment that a plug-in file defines by one call."""

    def __init__(self, pool: VerifierPool, file: Path, made: str) -> None:
        module, function = made.partition("(")[0].rpartition(".")[::2]
        file.write_text(
            f"from {module} import {function}\nSPEC = {made.removeprefix(module + '.')}\n"
        )
        plugins.use_plugins([file])
        self.pool, self.name = pool, function.removeprefix("environment_from_").replace("_", "-")

    @property
    def spec(self) -> Any:
        return VERIFIERS.get(self.name)

    def play(
        self,
        reference: dict[str, Any],
        responses: Sequence[str],
        before: Callable[[int], object] = lambda turn: None,
    ) -> tuple[Verdict, list[str]]:
        """Return the last verdict and the environment's messages. The last response ends the conversation."""
        task, state, told = load_task(self.name, reference), None, list[str]()
        for turn, response in enumerate(responses):
            before(turn)
            last = turn == len(responses) - 1
            verdict = self.pool.score([(response, next_task(task, state, last))])[0]
            if verdict.turn is None:
                break
            state = verdict.turn.state
            told += [message["content"] for message in verdict.turn.messages]
        return verdict, told


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], Player]]:
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    monkeypatch.delenv(plugins.ENVIRONMENT, raising=False)
    with VerifierPool(workers=1) as pool:
        yield lambda made: Player(pool, tmp_path / "plugin.py", made)


def of_gym(gym: FakeGym, **options: Any) -> str:
    given = "".join(f", {name}={value}" for name, value in options.items())
    return f"prorl_verifiers.adapters.nemo_gym.environment_from_nemo_gym({gym.url!r}{given})"


@pytest.mark.parametrize(
    ("responses", "told", "reward", "posts"),
    [
        ([ADD_1, ADD_2, "done"], ["now 4", "now 6"], 1.0, 4),
        ([ADD_1 + ADD_2, "done"], ["now 4", "now 6"], 1.0, 4),
        ([ADD_1, "done"], ["now 4"], 0.0, 3),
        ([call("verify", reward=1), "done"], ["unknown tool 'verify'"], 0.0, 2),
        (["<tool_call>{", ADD_1 + ADD_2], ["not valid JSON"], 1.0, 4),
        ([call("increment_counter"), ADD_1 + ADD_2], ["'count'"], 1.0, 5),
    ],
)
def test_a_tool_server_of_nemo_gym_is_played(
    use: Any, responses: list[str], told: list[str], reward: float, posts: int
) -> None:
    with fake_gym() as gym:
        player = use(of_gym(gym, largest=2.0))
        verdict, messages = player.play({"row": counter_row(3, 6)}, responses)
    assert (verdict.reward, verdict.status) == (reward, "scored")
    assert len(gym.posts) == posts and len(messages) == len(told)
    assert all(
        word.replace("now ", '"now": ') in text for word, text in zip(told, messages, strict=True)
    )


def test_a_step_server_of_nemo_gym_is_played(use: Any) -> None:
    row = {"responses_create_params": {"input": "Play."}}
    with fake_gym(steps=True) as gym:
        player = use(of_gym(gym))
        assert [m["content"] for m in player.spec.start({"row": row})[1]] == ["Play.", "Say go."]
        verdict, messages = player.play({"row": row}, ["wait", "go", "never"])
        assert (verdict.reward, messages) == (1.0, ["That was 1."])
        assert player.play({"row": row}, ["wait"])[0].reward == 0.0, "a limit ends it"


@pytest.mark.parametrize("steps", [False, True])
def test_a_lost_session_of_nemo_gym_is_rebuilt_from_its_calls(use: Any, steps: bool) -> None:
    responses = ["wait", "go", "go"] if steps else [ADD_1, ADD_2, "done"]
    with fake_gym(steps) as gym:
        player, row = use(of_gym(gym, largest=2.0 - steps)), {"row": counter_row(3, 6)}
        sessions = player.spec.step.__self__.live
        assert player.play(row, responses)[0].reward == 1.0
        assert player.play(row, responses, lambda turn: sessions.clear())[0].reward == 1.0
        gym.reply = lambda *_: {"observation": f"{len(gym.posts)}"}  # type: ignore[method-assign]

        def forget(turn: int) -> None:
            sessions.clear()
            gym.posts.append("")

        verdict, _ = player.play(row, responses, forget)
        assert verdict.is_infra_error and "differently" in verdict.reason


def test_an_outage_of_nemo_gym_is_an_infra_error_and_never_a_reward(use: Any) -> None:
    row = {"row": counter_row(3, 6)}
    with fake_gym() as gym:
        player = use(of_gym(gym))
        for status, word in ((503, "503"), (500, "500"), (422, "refused the task")):
            gym.fail = 0
            verdict, _ = player.play(
                row,
                [ADD_1, "done"],
                lambda turn, status=status: setattr(gym, "fail", status * turn),
            )
            assert verdict.is_infra_error and verdict.reward is None and word in verdict.reason
        gym.fail = 503
        verdict, told = player.play(row, [ADD_1, "done"])
        assert verdict.is_infra_error and not told
        gym.fail = 0
        verdict, _ = player.play({"row": counter_row(3, 6, lost=True)}, ["done"])
        assert verdict.is_infra_error and "session_lost" in verdict.reason
    verdict, _ = player.play(row, ["done"])
    assert verdict.is_infra_error and "connection refused" in verdict.reason


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"responses_create_params": {"tools": []}},
        {"responses_create_params": {"input": [{"type": "reasoning"}]}},
    ],
)
def test_a_malformed_row_of_nemo_gym_is_refused_before_it_is_played(use: Any, row: Any) -> None:
    use("prorl_verifiers.adapters.nemo_gym.environment_from_nemo_gym('http://127.0.0.1:1')")
    with pytest.raises(TaskError, match=r"responses_create_params|text"):
        load_task("nemo-gym", {"row": row})


def test_an_invalid_address_of_nemo_gym_is_refused() -> None:
    with pytest.raises(UserError, match="resource server's address"):
        environment_from_nemo_gym("localhost")
