"""Hub access: mirrors, a small fake hub over HTTP, every failure one line with its cure; pins."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from prorl_common import MissingExtraError
from prorl_datasets import DatasetError
from prorl_datasets.hub import ResolvedFile, Unreachable, check_pins, resolve, resolve_all

COMMIT = "9" * 40
ROWS = b'{"problem": "1+1", "answer": "2"}\n'


@dataclass(frozen=True)
class Source:
    repo: str
    files: tuple[str, ...] = ("*.jsonl",)
    revision: str = "main"


@dataclass
class FakeHub:
    """A hub held in a folder; a repository that is not there is blocked."""

    folder: Path
    downloads: list[str] = field(default_factory=list)

    def listing(self, repo: str, revision: str, kind: str) -> tuple[str, list[str]]:
        if not (self.folder / repo).is_dir():
            raise Unreachable("the hub is not reachable (blocked)")
        return COMMIT, [path.name for path in (self.folder / repo).iterdir()]

    def download(self, repo: str, commit: str, name: str, kind: str) -> Path:
        self.downloads.append(f"{repo}/{name}")
        return self.folder / repo / name


def put(folder: Path, name: str, data: bytes = ROWS) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("layout", ["owner/set", "owner__set"])
def test_a_mirror_is_read_in_both_layouts(tmp_path: Path, layout: str) -> None:
    for name in ("b.jsonl", "a.jsonl", "RL/c.jsonl", "README.md"):
        put(tmp_path / layout, name)
    found = resolve("owner/set", "main", ["*.jsonl", "RL/c.jsonl"], mirror=tmp_path)
    assert [file.name for file in found] == ["RL/c.jsonl", "a.jsonl", "b.jsonl"]
    assert found[1] == ResolvedFile(
        tmp_path / layout / "a.jsonl", "a.jsonl", hashlib.sha256(ROWS).hexdigest(), None
    )


def test_a_file_that_the_mirror_lacks_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    put(tmp_path / "owner/set", "deepscaler.jsonl")
    with pytest.raises(DatasetError, match=r"no file 'deepscaler\.json' \(did you mean") as caught:
        resolve("owner/set", "main", ["deepscaler.json"], mirror=tmp_path)
    assert "\n" not in str(caught.value) and "--mirror DIR" in str(caught.value)


def test_a_mirror_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such mirror folder"):
        resolve("owner/set", "main", ["*"], mirror=tmp_path / "none")


def test_what_the_mirror_lacks_comes_from_the_hub(tmp_path: Path) -> None:
    put(tmp_path / "hub/o/a", "x.jsonl")
    put(tmp_path / "mirror/o/b", "y.jsonl")
    hub = FakeHub(tmp_path / "hub")
    found = resolve_all([Source("o/a"), Source("o/b")], mirror=tmp_path / "mirror", hub=hub)
    assert {repo: [f.revision for f in files] for repo, files in found.items()} == {
        "o/a": [COMMIT],
        "o/b": [None],
    }
    assert hub.downloads == ["o/a/x.jsonl"]


def test_all_blocked_sources_are_reported_at_once_and_nothing_is_fetched(tmp_path: Path) -> None:
    put(tmp_path / "o/good", "x.jsonl")
    hub = FakeHub(tmp_path)
    with pytest.raises(DatasetError) as caught:
        resolve_all([Source("o/one"), Source("o/good"), Source("o/two")], hub=hub)
    told = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in told] == ["o/one", "o/two"]
    for cure in ("--mirror DIR", "HF_ENDPOINT", "prorl-136k-procedural"):
        assert all(cure in line for line in told)
    assert hub.downloads == []


def test_two_sources_of_one_repository_share_its_files(tmp_path: Path) -> None:
    put(tmp_path / "o/a", "x.jsonl")
    put(tmp_path / "o/a", "y.jsonl")
    hub = FakeHub(tmp_path)
    found = resolve_all([Source("o/a", ("x.jsonl",)), Source("o/a")], hub=hub)
    assert [file.name for file in found["o/a"]] == ["x.jsonl", "y.jsonl"]
    assert len(hub.downloads) == 2


class _Handler(BaseHTTPRequestHandler):
    """The few answers of the hub's interface that are needed. ``/datasets/o/gated`` is gated."""

    seen: list[str]

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        self.seen.append(self.path)
        path = self.path.split("?")[0]
        if path.startswith("/api/datasets/o/gated"):
            self._answer(403, b"{}", X_Error_Code="GatedRepo", X_Error_Message="gated")
        elif path == "/api/datasets/o/set/revision/v1":
            files = [{"rfilename": n} for n in ("a.jsonl", "README.md")]
            body = json.dumps({"id": "o/set", "sha": COMMIT, "siblings": files}).encode()
            self._answer(200, body, Content_Type="application/json")
        elif path.startswith("/api/datasets/o/set/revision/"):
            self._answer(404, b"{}", X_Error_Code="RevisionNotFound")
        elif path == f"/datasets/o/set/resolve/{COMMIT}/a.jsonl":
            self._answer(200, ROWS, ETag='"etag1"', X_Repo_Commit=COMMIT)
        elif path.startswith("/api/datasets/o/broken"):
            self._answer(418)
        else:
            self._answer(404, b"{}", X_Error_Code="RepoNotFound")

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hub_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A hub on this machine, named by HF_ENDPOINT; gives the list of paths asked of it."""
    constants = pytest.importorskip("huggingface_hub.constants")
    seen: list[str] = []
    handler = type("Handler", (_Handler,), {"seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # it is read once, at the first import
    yield seen
    server.shutdown()
    thread.join()
    server.server_close()


def test_files_come_from_the_endpoint_and_later_from_the_cache(
    hub_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    [file] = resolve("o/set", "v1", ["*.jsonl"])
    assert file.path.read_bytes() == ROWS
    assert (file.name, file.revision) == ("a.jsonl", COMMIT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(hub_at)
    assert resolve("o/set", COMMIT, ["*.jsonl"]) == [file]
    with pytest.raises(DatasetError, match="HF_HUB_OFFLINE is set and revision main is not in"):
        resolve("o/other", "main", ["*"])
    assert len(hub_at) == asked


@pytest.mark.parametrize(
    ("repo", "message"),
    [
        ("o/gated", r"o/gated: this repository is gated: accept its terms at .* and set HF_TOKEN"),
        ("o/none", r"has no such repository, or it is private"),
        ("o/set", r"o/set: it has no revision 'main'"),
        ("o/broken", r"answered HTTP 418"),
        ("not a name", r"not a repository's name"),
    ],
)
def test_each_refusal_of_the_hub_is_one_line(hub_at: list[str], repo: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message) as caught:
        resolve(repo, "main", ["*"])
    assert "\n" not in str(caught.value)


def test_a_hub_that_nobody_answers_for_is_not_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(DatasetError, match=r"o/set: the hub at http://127\.0\.0\.1:9 is not reach"):
        resolve("o/set", "main", ["*"])


def test_without_the_hub_library_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"prorl\[hub\]"):
        resolve("o/set", "main", ["*"])


def file_of(sha: str, revision: str | None = COMMIT, name: str = "a.jsonl") -> ResolvedFile:
    return ResolvedFile(Path(name), name, sha, revision)


def test_the_first_build_writes_the_pins_and_the_next_one_finds_them_unchanged(
    tmp_path: Path,
) -> None:
    lock = tmp_path / "pins.lock.json"
    check_pins(lock, {"o/set": [file_of("11")]})
    first = lock.read_bytes()
    assert json.loads(first) == {"o/set": {"revision": COMMIT, "files": {"a.jsonl": "11"}}}
    check_pins(lock, {"o/set": [file_of("11", None)]})
    assert lock.read_bytes() == first


def test_changed_bytes_and_revisions_are_all_named_and_nothing_is_written(tmp_path: Path) -> None:
    lock = tmp_path / "pins.lock.json"
    check_pins(lock, {"o/set": [file_of("11")], "o/two": [file_of("22")]})
    before = lock.read_bytes()
    changed = {"o/set": [file_of("33")], "o/two": [file_of("22", "8" * 40)]}
    with pytest.raises(DatasetError) as caught:
        check_pins(lock, changed)
    one, two = str(caught.value).splitlines()
    assert "a.jsonl" in one and "locked sha256 11" in one and "now 33" in one
    assert "--update-pins" in one and "delete the entry 'o/set'" in one
    assert COMMIT in two and "8" * 40 in two
    assert lock.read_bytes() == before
    check_pins(lock, changed, update=True)
    check_pins(lock, changed)


def test_a_branch_is_read_as_the_commit_it_was_locked_at(tmp_path: Path) -> None:
    pins = check_pins(tmp_path / "l.json", {"o/set": [file_of("11")]})
    assert pins.revision_for("o/set", "main") == COMMIT
    assert pins.revision_for("o/set", "7" * 40) == "7" * 40
    assert pins.revision_for("o/new", "main") == "main"


def test_a_lock_file_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    for text in ("{", "[1]", '{"o/set": 3}', '{"o/set": {"files": {}}}'):
        (tmp_path / "l.json").write_text(text)
        with pytest.raises(DatasetError, match="not a lock file of ours"):
            check_pins(tmp_path / "l.json", {})
