"""Environments of other libraries as prorl environments; tests/integration runs the real ones."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from doubles import converse, tool_call

from prorl_common import UserError, plugins
from prorl_verifiers import TaskError, Verdict, VerifierPool, load_task
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


PARAMS = {"input": [{"role": "user", "content": "add 1, then 2"}], "tools": [TOOL]}
ROW: dict[str, Any] = {
    "row": {"responses_create_params": PARAMS, "initial_count": 3, "expected_count": 6}
}
ADD_1, ADD_2 = tool_call("increment_counter", count=1), tool_call("increment_counter", count=2)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Plays at a server's address with a plug-in file that names it."""
    monkeypatch.delenv(plugins.ENVIRONMENT, raising=False)
    with VerifierPool(workers=1) as pool:

        def converse_at(
            url: str, *conversation: Any, **options: float
        ) -> tuple[Verdict, list[str]]:
            text = (
                "from prorl_verifiers.adapters.nemo_gym import environment_from_nemo_gym\n"
                f"SPEC = environment_from_nemo_gym({url!r}, **{options})\n"
            )
            plugin = tmp_path / "plugin.py"
            if not plugin.exists() or plugin.read_text() != text:
                plugin.write_text(text)
                monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
                plugins.use_plugins([plugin])
            return converse(pool, "nemo-gym", *conversation)

        yield converse_at


@pytest.mark.parametrize(
    ("responses", "told", "reward", "posts"),
    [
        ([ADD_1, ADD_2, "done"], ["now 4", "now 6"], 1.0, 4),
        ([ADD_1 + ADD_2, "done"], ["now 4", "now 6"], 1.0, 4),
        ([ADD_1, "done"], ["now 4"], 0.0, 3),
        ([tool_call("verify", reward=1), "done"], ["unknown tool 'verify'"], 0.0, 2),
        (["<tool_call>{", ADD_1 + ADD_2], ["not valid JSON"], 1.0, 4),
        ([tool_call("increment_counter"), ADD_1 + ADD_2], ["'count'"], 1.0, 5),
    ],
)
def test_a_tool_server_of_nemo_gym_is_played(
    play: Any, responses: list[str], told: list[str], reward: float, posts: int
) -> None:
    with fake_gym() as gym:
        verdict, messages = play(gym.url, ROW, responses, largest=2.0)
    assert (verdict.reward, verdict.status) == (reward, "scored")
    assert len(gym.posts) == posts and len(messages) == len(told)
    assert all(
        word.replace("now ", '"now": ') in text for word, text in zip(told, messages, strict=True)
    )


def test_a_step_server_of_nemo_gym_is_played(play: Any) -> None:
    with fake_gym(steps=True) as gym:
        verdict, messages = play(gym.url, ROW, ["wait", "go", "never"])
        assert (verdict.reward, messages) == (1.0, ["That was 1."])
        assert play(gym.url, ROW, ["wait"])[0].reward == 0.0, "a limit ends it"
        start = VERIFIERS.get("nemo-gym").start(ROW)  # type: ignore[attr-defined]
        assert [message["content"] for message in start[1]][1:] == ["add 1, then 2", "Say go."]


@pytest.mark.parametrize("steps", [False, True])
def test_a_lost_session_of_nemo_gym_is_rebuilt_from_its_calls(play: Any, steps: bool) -> None:
    responses = ["wait", "go", "go"] if steps else [ADD_1, ADD_2, "done"]

    def forget(turn: int) -> None:
        VERIFIERS.get("nemo-gym").step.__self__.live.clear()  # type: ignore[attr-defined]
        gym.posts.append("")

    with fake_gym(steps) as gym:
        assert play(gym.url, ROW, responses, forget, largest=2.0 - steps)[0].reward == 1.0
        gym.reply = lambda *_: {"observation": f"{len(gym.posts)}"}  # type: ignore[method-assign]
        verdict, _ = play(gym.url, ROW, responses, forget, largest=2.0 - steps)
        assert verdict.is_infra_error and "other messages" in verdict.reason


@pytest.mark.parametrize(
    ("first", "later", "word"),
    [(0, 503, "503"), (0, 500, "500"), (0, 422, "refused the task"), (503, 0, "503")],
)
def test_an_outage_of_nemo_gym_is_an_infra_error_and_never_a_reward(
    play: Any, first: int, later: int, word: str
) -> None:
    with fake_gym() as gym:
        fail = lambda turn: setattr(gym, "fail", later if turn else first)
        verdict, messages = play(gym.url, ROW, [ADD_1, "done"], fail)
        assert verdict.is_infra_error and verdict.reward is None and word in verdict.reason
        assert len(messages) == (first == 0)
        lost = {"row": {**ROW["row"], "lost": True}}
        verdict, _ = play(gym.url, lost, ["done"], lambda turn: setattr(gym, "fail", 0))
        assert verdict.is_infra_error and "session_lost" in verdict.reason
    verdict, _ = play(gym.url, ROW, ["done"])
    assert verdict.is_infra_error and "connection refused" in verdict.reason


@pytest.mark.parametrize(
    "row",
    [{}, {"responses_create_params": {"input": [{"type": "reasoning"}]}}],
)
def test_a_malformed_row_of_nemo_gym_is_refused_before_it_is_played(play: Any, row: Any) -> None:
    with pytest.raises(TaskError, match=r"responses_create_params|text"):
        play("http://127.0.0.1:1", {"row": row}, ["done"])


def test_an_invalid_address_of_nemo_gym_is_refused() -> None:
    with pytest.raises(UserError, match="resource server's address"):
        environment_from_nemo_gym("localhost")


def test_the_example_that_plays_tasksets_needs_verifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    monkeypatch.setitem(sys.modules, "verifiers.v1", None)
    plugins.use_plugins([Path(__file__).parents[2] / "examples/verifiers_environment.py"])
    with pytest.raises(UserError, match="my_taskset cannot be loaded"):
        load_task("verifiers", {"data": {}})
