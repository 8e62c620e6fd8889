import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from prorl_common.forks import Child, ChildError, Template
from prorl_common.frames import FrameError, Reader, send

PROGRAM = """
import os
from prorl_common.forks import serve_forks
from prorl_common.frames import FrameError, Reader, send

def become(order, requests, replies):
    reader = Reader(requests)
    while True:
        try:
            request = reader.receive()
        except FrameError:
            return
        if request.get("raise"):
            raise ValueError(request["raise"])
        print("nobody reads this")
        send(replies, {"order": order, "request": request, "home": os.environ["HOME"]})

serve_forks(lambda: {"loaded": True}, become)
"""


@pytest.fixture(scope="module")
def template() -> Iterator[Template]:
    made = Template([sys.executable, "-c", PROGRAM], dict(os.environ), "a test's process")
    try:
        assert made.hello() == {"loaded": True}
        yield made
    finally:
        made.kill()


@pytest.fixture
def child(template: Template) -> Iterator[Child]:
    made = template.child({"number": 7})
    try:
        yield made
    finally:
        made.kill()


def test_a_child_knows_its_order_and_answers_in_frames(child: Child) -> None:
    send(child.to, {"text": "é"})
    reply = Reader(child.source).receive()
    assert reply["order"] == {"number": 7, "folder": child.folder}
    assert reply["request"] == {"text": "é"} and reply["home"] == os.environ["HOME"]


def test_a_child_that_raises_ends_with_code_1_and_its_traceback(child: Child) -> None:
    send(child.to, {"raise": "no such row"})
    with pytest.raises(FrameError, match="closed"):
        Reader(child.source).receive()
    assert child.last_lines()[-1] == "ValueError: no such row"
    assert child.kill() == 1
    assert not child.alive and not Path(child.folder).exists()


def test_a_killed_child_is_reaped_with_its_signal_and_only_once(child: Child) -> None:
    os.kill(child.pid, signal.SIGKILL)
    assert child.kill() == -signal.SIGKILL
    assert child.kill() is None


def test_children_end_with_their_template_and_its_folder_goes() -> None:
    template = Template([sys.executable, "-c", PROGRAM], {}, "a test's process")
    template.hello()
    child = template.child({})
    os.kill(template.pid, signal.SIGKILL)
    with pytest.raises(FrameError, match="closed"):
        Reader(child.source).receive(time.monotonic() + 30)
    assert child.kill() is None
    with pytest.raises(ChildError, match="a test's process did not start"):
        template.child({})
    template.kill()
    assert not Path(template.folder).exists()
