from __future__ import annotations

import gc
import marshal
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from prorl_common import MissingExtraError, UserError
from prorl_sandbox.box import seccomp
from prorl_sandbox.box.container import cleaning, frames
from prorl_sandbox.docker_backend import container, engine, images, sandbox, stream
from prorl_sandbox.docker_backend.container import Need
from prorl_sandbox.run.compiling import plan_compiled
from prorl_sandbox.run.plan import NO_PACKAGES, Packages
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import Limits, Program, SandboxError


@pytest.mark.parametrize("host", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:9"])
def test_an_engine_that_is_down_is_one_line_and_leaves_no_socket_open(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(UserError, match=r"no Docker engine answers .* --backend local$") as error:
        engine.Engine.connect()
    assert "\n" not in str(error.value)
    del error
    gc.collect()  # pytest fails here if a socket was left open


def test_a_frame_comes_back_whole_however_it_is_cut() -> None:
    data = (
        frames.frame(frames.OUT, b"ab") + frames.frame(frames.END) + frames.frame(frames.ERR, b"c")
    )
    buffer, found = bytearray(), []
    for byte in data:
        buffer.append(byte)
        while (one := frames.take(buffer)) is not None:
            found.append(one)
    assert found == [(frames.OUT, b"ab"), (frames.END, b""), (frames.ERR, b"c")]
    assert not buffer


def test_a_frame_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(frames.BrokenStream):
        frames.take(bytearray(struct.pack(">cI", b"1", frames.LARGEST + 1)))


def test_chunks_are_bounded_and_complete() -> None:
    data = os.urandom(3 * frames.CHUNK + 7)
    buffer, parts = bytearray(frames.chunks(frames.FILE, data)), []
    while (one := frames.take(buffer)) is not None:
        assert one[0] == frames.FILE and 0 < len(one[1]) <= frames.CHUNK
        parts.append(one[1])
    assert b"".join(parts) == data
    assert frames.chunks(frames.FILE, b"") == b""


def _mux(number: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", number, len(data)) + data


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_the_engines_streams_are_told_apart(step: int) -> None:
    data = _mux(1, b"abc") + _mux(2, b"oops\n") + _mux(1, b"") + _mux(1, b"de")
    sorter = stream.Demultiplexer()
    for start in range(0, len(data), step):
        sorter.feed(data[start : start + step])
    assert (bytes(sorter.output), bytes(sorter.errors)) == (b"abcde", b"oops\n")


def test_what_is_no_engine_stream_is_refused() -> None:
    with pytest.raises(frames.BrokenStream):
        stream.Demultiplexer().feed(b"HTTP/1.1 500 what\r\n")


def test_errors_of_a_container_are_not_kept_without_bound() -> None:
    sorter = stream.Demultiplexer()
    for _ in range(100):
        sorter.feed(_mux(2, b"x" * 4000))
    assert len(sorter.errors) < 10_000


def test_the_profile_allows_what_the_boxs_filter_does_and_what_init_needs() -> None:
    profile_ = container.build_profile()
    assert (profile_["defaultAction"], profile_["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 38)
    allowed = {
        name
        for rule in profile_["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW"
        for name in rule["names"]
    }
    assert seccomp.named_calls() <= allowed
    beside = allowed - seccomp.named_calls()
    assert {"landlock_restrict_self", "seccomp", "capset"} < beside and len(beside) == 10
    assert not {"io_uring_setup", "clone3", "mount", "unshare", "ptrace", "keyctl"} & allowed


def test_the_profile_denies_each_new_namespace_and_all_but_local_sockets() -> None:
    rules = {
        rule["names"][0]: rule["args"][0]
        for rule in container.build_profile()["syscalls"]
        if "args" in rule
    }
    assert rules["clone"]["op"] == "SCMP_CMP_MASKED_EQ"
    assert (rules["clone"]["value"], rules["clone"]["valueTwo"]) == (0x7E020000, 0)
    assert (rules["socket"]["op"], rules["socket"]["value"]) == ("SCMP_CMP_EQ", 1)


def test_the_profile_allows_socket_options_by_a_list_and_no_out_of_band_bytes() -> None:
    rules = [rule for rule in container.build_profile()["syscalls"] if "args" in rule]
    pairs = {
        name: [
            tuple(arg["valueTwo"] for arg in rule["args"])
            for rule in rules
            if name in rule["names"]
        ]
        for name in ("setsockopt", "getsockopt", "sendmsg", "recvmmsg")
    }
    assert (1, 2) in pairs["setsockopt"] and (1, 26) not in pairs["setsockopt"]
    assert (1, 4) in pairs["getsockopt"] and (1, 57) not in pairs["getsockopt"]
    assert pairs["sendmsg"] == pairs["recvmmsg"] == [(0,)]


def test_an_order_holds_the_program_as_file_and_the_job_apart() -> None:
    program = Program("", language="cpp")
    job = plan_compiled(program, LANGUAGES.get("cpp"), b"\x7fELF" * 40_000, Limits()).job
    buffer = bytearray(stream.order(job))
    kind, body = frames.take(buffer) or (b"", b"")
    head = marshal.loads(body)
    assert (kind, head["name"], head["scratch"]) == (frames.ORDER, "program", "/scratch")
    file = b"".join((frames.take(buffer) or (b"", b""))[1] for _ in range(head["chunks"]))
    assert file == job.artifact
    kind, body = frames.take(buffer) or (b"", b"")
    assert kind == frames.JOB and marshal.loads(body)["program"] == "/box/program"
    assert "artifact" not in marshal.loads(body)
    assert frames.take(buffer) == (frames.GO, b"") and not buffer


@pytest.mark.parametrize(
    "said",
    [{}, {"status": "0"}, {"status": -1, "cpu": float("nan")}, {"status": 1 << 20, "oom": 1}],
)
def test_an_end_of_wrong_types_is_never_a_good_end(said: dict[str, Any]) -> None:
    end = stream.read_end(said)
    assert os.waitstatus_to_exitcode(end.status) != 0
    assert type(end.cpu_seconds) is float and end.out_of_memory is False


def test_the_bundle_holds_the_boxs_modules_as_text() -> None:
    data = container.bundle({"slot": 1})
    assert int.from_bytes(data[:8], "big") == len(data) - 8
    given = marshal.loads(data[8:])
    assert {"prorl_sandbox", "prorl_sandbox.box", "prorl_sandbox.box.container.init"} <= set(
        given["modules"]
    )
    assert given["config"] == {"slot": 1}


def test_the_loader_refuses_an_old_python_by_name() -> None:
    loader = container._LOADER.replace("sys.version_info < (3, 11)", "True")
    found = subprocess.run(
        [sys.executable, "-c", loader], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1 and "3.11 or newer is needed" in found.stderr


def _tree(top: Path) -> None:
    for number in range(30):
        folder = top / f"d{number}" / "a" / "b"
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
        (folder / "link").symlink_to("/usr")
        (top / f"d{number}" / "a").chmod(0o500)
    (top / "moved-0").mkdir()
    (top / "moved-1").write_text("x")


def test_a_tree_is_emptied_without_following_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    top = tmp_path / "top"
    top.mkdir()
    _tree(top)
    (top / "way out").symlink_to(outside)
    cleaning.empty(os.fsencode(top))
    assert list(top.iterdir()) == []
    assert (outside / "kept").exists()


def test_a_tree_deeper_than_any_path_is_emptied(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    name = "d" * 200
    for _ in range(100):
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    cleaning.empty(os.fsencode(tmp_path))
    assert os.listdir(tmp_path) == []


def test_this_process_lives_and_another_number_does_not() -> None:
    name = engine.owner_name()
    assert engine.owner_lives(name)
    assert not engine.owner_lives(f"{os.getpid()}-1")
    assert not engine.owner_lives("999999999-1")
    assert not engine.owner_lives("")


def test_memory_is_asked_for_in_steps_and_with_room_for_ourselves() -> None:
    assert Need(512, 64, 16).total_mb(0) == Need(500, 64, 16).total_mb(0) >= 512 + 32
    assert Need(512, 64, 16).total_mb(100) >= Need(512, 64, 16).total_mb(0) + 96
    assert Need(512, 64, 4000).pids > 4000


@pytest.mark.parametrize("languages", [("cpp",), ("python", "cobol"), ()])
def test_a_recipe_needs_python_and_known_languages(languages: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match="language"):
        images.Recipe(languages=languages)


def test_an_image_holds_the_packages_that_languages_name_pythons_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert images.Recipe(languages=("cpp", "python")).packages == ["python3", "g++"]
    perl = LanguageSpec(name="perl", run=("perl", "{source}"), packages=("perl", "libtest-perl"))
    bare = LanguageSpec(name="bare", run=("bare", "{source}"))
    specs = {"python": LANGUAGES.get("python"), "perl": perl, "bare": bare}
    monkeypatch.setattr(LANGUAGES, "get", specs.__getitem__)
    found = images.Recipe(languages=("perl", "python")).packages
    assert found == ["python3", "perl", "libtest-perl"]
    with pytest.raises(UserError, match="bare does not name its Debian packages"):
        images.Recipe(languages=("python", "bare"))


def test_languages_can_be_left_out_of_the_image(tmp_path: Path) -> None:
    command = images.debootstrap_command(
        images.Recipe(languages=("python",), suite="stable", mirror="file:///mirror"), tmp_path
    )
    assert "--include=python3" in command
    assert command[-3:] == ["stable", str(tmp_path), "file:///mirror"]


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(MissingExtraError, match=r"prorl\[docker\]"):
        engine.Engine.connect()


class _FakeContainer:
    """A fake container that fits every program with the same packages."""

    def __init__(self, packages: Packages = NO_PACKAGES) -> None:
        self.gone = False
        self.packages = packages

    def fits(self, need: Need) -> bool:
        return True

    def has_memory(self, need: Need) -> bool:
        return True

    def set_memory(self, need: Need) -> None:
        return

    def destroy(self) -> None:
        self.gone = True

    discard = destroy


NEED = Need(512, 64, 16)


def test_a_place_keeps_a_container_for_each_kind_of_packages_up_to_a_number() -> None:
    made: list[_FakeContainer] = []

    def make(need: Need) -> _FakeContainer:
        made.append(_FakeContainer(need.packages))
        return made[-1]

    places = sandbox.Pool(1, make)  # type: ignore[arg-type]
    needs = [Need(512, 64, 16, Packages("e", "/e", (str(number),))) for number in range(7)]
    for need in (*needs[:3], *needs[:3]):
        with places.take([need]) as ((slot,), _):
            assert slot.container is not None and slot.container.packages == need.packages
    assert len(made) == 3 and not any(one.gone for one in made)
    for need in needs:
        with places.take([need]):
            pass
    assert len(made) == 7 and sum(one.gone for one in made) == 2
    places.close()
    assert all(one.gone for one in made)


def test_a_run_that_needs_two_is_not_overtaken_for_ever() -> None:
    places = sandbox.Pool(2, lambda need: _FakeContainer())  # type: ignore[arg-type,return-value]
    order: list[str] = []
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with places.take([NEED]):
            inside.set()
            leave.wait(20)

    def pair() -> None:
        with places.take([NEED, NEED]):
            order.append("pair")

    def single() -> None:
        with places.take([NEED]):
            order.append("single")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert inside.wait(20)
    for target in (pair, single):
        before = len(places.places._line)
        threads.append(threading.Thread(target=target))
        threads[-1].start()
        while len(places.places._line) == before:
            threading.Event().wait(0.001)
    leave.set()
    for thread in threads:
        thread.join(20)
    assert order == ["pair", "single"]


def test_a_closed_pool_gives_nothing_and_ends_all() -> None:
    made: list[_FakeContainer] = []

    def make(need: Need) -> _FakeContainer:
        made.append(_FakeContainer())
        return made[-1]

    places = sandbox.Pool(2, make)  # type: ignore[arg-type]
    with places.take([NEED]):
        places.close()
    with pytest.raises(SandboxError, match="closed"), places.take([NEED]):
        pass
    assert len(made) == 1 and made[0].gone


def test_a_container_that_cannot_be_made_leaves_its_place_free() -> None:
    attempts: list[int] = []

    def make(need: Need) -> _FakeContainer:
        attempts.append(1)
        if len(attempts) == 1:
            raise SandboxError("no")
        return _FakeContainer()

    places = sandbox.Pool(2, make)  # type: ignore[arg-type]
    with pytest.raises(SandboxError, match="no"), places.take([NEED]):
        pass
    with places.take([NEED, NEED]) as (slots, _):
        assert len(slots) == 2
