from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from doubles import Messages
from hub_faults import Body, Cut, Slow, Spoilt, Status, Whole, WrongLength
from hub_server import TOKEN, FakeHub

from prorl_common.http import RetryPolicy
from prorl_datasets import DatasetError
from prorl_datasets.hub import hub as hub_files
from prorl_datasets.hub.access import Access, ResolvedFile, resolve
from prorl_datasets.hub.hub import CachedHub, Unreachable
from prorl_datasets.hub.pins import Pins

COMMIT = "9" * 40
ROWS = b'{"problem": "1+1", "answer": "2"}\n'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten retry waits to hundredths of a second."""
    monkeypatch.setattr(hub_files, "POLICY", RetryPolicy(first=0.01, longest=0.05, tries=6))
    no_sleep = SimpleNamespace(sleep=lambda seconds: None)
    monkeypatch.setattr("huggingface_hub.file_download.time", no_sleep)
    monkeypatch.setattr("huggingface_hub.utils._http.time", no_sleep)


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


LARGE = bytes(range(256)) * 1200
"""About 300 kB: several progress blocks."""


def test_what_the_mirror_lacks_comes_from_the_hub(tmp_path: Path, hub: FakeHub) -> None:
    hub.put("o/a", {"x.jsonl": ROWS})
    put(tmp_path / "mirror/o/b", "y.jsonl")
    access = Access(tmp_path / "mirror")
    found = [access.fetch(access.select(repo, "main", ["*.jsonl"])) for repo in ("o/a", "o/b")]
    assert [[f.revision for f in files] for files in found] == [
        [hub.repos["o/a"].at("main")],
        [None],
    ]


def test_a_listing_goes_over_pages_and_folders(hub: FakeHub) -> None:
    names = [f"data/train-{n:05d}.parquet" for n in range(8)] + ["README.md", "a/b/c.jsonl"]
    hub.put("o/set", dict.fromkeys(names, b"x"))
    found = CachedHub(os.environ).listing("o/set", "main")
    assert sorted(found.files) == sorted(names)
    assert sum("/tree/" in s.path for s in hub.seen) == 4


def test_a_page_of_a_listing_may_hold_folders_alone(hub: FakeHub) -> None:
    names = [f"{part}/{part}.jsonl" for part in "abcdefgh"]
    hub.put("o/set", dict.fromkeys(names, b"x"))
    assert sorted(CachedHub(os.environ).listing("o/set", "main").files) == names


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (["a.parquet", "a.jsonl"], ["parquet", "a.parquet"]),
        (["b.jsonl", "dataset_infos.json"], ["jsonl", "b.jsonl"]),
        (["dataset_infos.json", "c.json"], ["json", "c.json"]),
        (["README.md"], ["refs/convert/parquet", "default/train/0000.parquet"]),
    ],
)
def test_the_first_candidate_that_is_there_is_taken(
    hub: FakeHub, there: list[str], taken: list[str]
) -> None:
    hub.put("o/set", dict.fromkeys(there, ROWS))
    hub.put("o/set", {"default/train/0000.parquet": ROWS}, branch="refs/convert/parquet")
    access = Access()
    chosen = access.select("o/set", "main", ["parquet | jsonl | json | refs/convert/parquet"])
    assert [*chosen.candidates, *(name for _, name in chosen.names)] == taken
    [file] = access.fetch(chosen)
    assert file.path.read_bytes() == ROWS
    assert file.branch == (taken[0] if taken[0].startswith("refs/") else None)


def test_no_candidate_is_one_line_with_what_there_is(hub: FakeHub) -> None:
    hub.put("o/set", {"README.md": b""})
    with pytest.raises(
        DatasetError, match=r"has none of parquet, refs/convert/parquet; it has README"
    ):
        resolve("o/set", "main", ["parquet | refs/convert/parquet"])


def test_large_files_come_from_another_host_which_never_sees_the_token(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.put("o/set", {"big.parquet": LARGE})
    [file] = resolve("o/set", "main", ["parquet"])
    assert file.path.read_bytes() == LARGE
    assert {(s.host, s.token) for s in hub.seen} == {("hub", TOKEN), ("store", None)}


def test_the_token_that_a_login_stored_is_used(hub: FakeHub, tmp_path: Path) -> None:
    hub.put("o/set", {"a.jsonl": ROWS})
    hub.repos["o/set"].private = True
    with pytest.raises(DatasetError, match="no such repository, or it is private"):
        resolve("o/set", "main", ["*"])
    put(tmp_path / "hf", "token", f"{TOKEN}\n".encode())
    assert resolve("o/set", "main", ["*"])[0].name == "a.jsonl"


def test_files_are_fetched_once_and_later_found_in_the_cache_without_asking(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.put("o/set", {"a.jsonl": ROWS, "README.md": b""})
    [file] = resolve("o/set", "main", ["*.jsonl"])
    assert (file.path.read_bytes(), file.name, file.revision) == (ROWS, "a.jsonl", commit)
    asked = len(hub.seen)
    assert resolve("o/set", commit, ["*.jsonl"]) == [file]
    assert len(hub.seen) == asked
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert resolve("o/set", "main", ["*.jsonl"]) == [file]
    with pytest.raises(DatasetError, match="HF_HUB_OFFLINE is set and revision main is not in"):
        resolve("o/other", "main", ["*"])
    with pytest.raises(DatasetError, match=r"HF_HUB_OFFLINE is set and README\.md is not in"):
        resolve("o/set", "main", ["README.md"])
    assert len(hub.seen) == asked


def test_the_hubs_own_client_finds_what_we_fetched_and_we_what_it_fetched(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip("huggingface_hub")
    commit = hub.put("o/set", {"big.parquet": LARGE, "a.jsonl": ROWS})
    [ours] = resolve("o/set", "main", ["big.parquet"])
    cache = tmp_path / "hf" / "hub"
    where = library.try_to_load_from_cache("o/set", "big.parquet", cache, "main", "dataset")
    assert Path(where) == ours.path
    theirs = library.hf_hub_download(
        "o/set", "a.jsonl", repo_type="dataset", revision=commit, cache_dir=cache, endpoint=hub.url
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert str(resolve("o/set", "main", ["a.jsonl"])[0].path) == theirs
    listed = library.HfApi(endpoint=hub.url).list_repo_tree(
        "o/set", recursive=True, repo_type="dataset"
    )
    assert sorted(file.path for file in listed) == ["a.jsonl", "big.parquet"]


@pytest.mark.parametrize(
    "faults",
    [
        [Status(503)] * 3,
        [Status(429, "0"), Status(500), Status(504)],
        [Cut(0), Cut(10), Cut(70_000), Cut(100)],
        [WrongLength(5), Spoilt()],
        [Cut(90_000), Whole()],
        [Cut(299_999), Slow(0.1)],
    ],
    ids=str,
)
def test_faults_of_a_body_are_outlived(
    hub: FakeHub, faults: list[Status | Cut | WrongLength | Spoilt | Whole | Slow]
) -> None:
    hub.put("o/set", {"big.parquet": LARGE})
    hub.plan.by_path["/resolve/"] = list(faults)
    assert resolve("o/set", "main", ["parquet"])[0].path.read_bytes() == LARGE
    assert not any(hub.plan.by_path.values())


def test_a_hub_that_falls_silent_is_asked_again(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    hub.put("o/set", {"big.parquet": LARGE})
    hub.plan.by_path["/resolve/"] = [Slow(0.6), Cut(80_000), Slow(0.6)]
    assert resolve("o/set", "main", ["parquet"])[0].path.read_bytes() == LARGE


def test_a_cut_body_is_resumed_with_range_also_by_the_next_process(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 50_000)
    hub.put("o/set", {"big.parquet": LARGE})
    hub.plan.by_path["/resolve/"] = [Cut(100_000), *[Cut(0)] * 60]
    with pytest.raises(DatasetError, match=r"failed 6 times \("):
        resolve("o/set", "main", ["parquet"])
    hub.seen.clear()
    hub.plan.by_path.clear()
    assert resolve("o/set", "main", ["parquet"])[0].path.read_bytes() == LARGE
    assert [s.span for s in hub.bodies(".parquet")] == ["bytes=100000-"]


def test_faults_of_the_listing_are_outlived(hub: FakeHub) -> None:
    hub.put("o/set", {f"{n}.jsonl": ROWS for n in range(5)})
    hub.plan.by_path["/api/"] = [Status(503), Cut(20), Status(429, "0"), Cut(3), Status(502)]
    assert len(resolve("o/set", "main", ["*.jsonl"])) == 5


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            Status(503),
            r"o/set: the hub at http\S+ failed 6 times \(HTTP 503: on purpose\); give --mi",
        ),
        (WrongLength(7), "it sent 307,193 bytes, but lists the file with 307,200"),
        (Spoilt(), r"3 downloads of big\.parquet did not have the hash that the hub lists"),
    ],
)
def test_a_fault_that_stays_is_one_line_and_leaves_no_file(
    hub: FakeHub, tmp_path: Path, fault: Status | WrongLength | Spoilt, message: str
) -> None:
    hub.put("o/set", {"big.parquet": LARGE})
    hub.plan.by_path["/resolve/"] = [fault] * 9
    with pytest.raises(DatasetError, match=message) as caught:
        resolve("o/set", "main", ["parquet"])
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "hf").rglob("*.parquet"))


def test_a_damaged_file_in_the_cache_is_fetched_again(hub: FakeHub) -> None:
    hub.put("o/set", {"big.parquet": LARGE, "a.jsonl": ROWS})
    for file in resolve("o/set", "main", ["*"]):
        file.path.write_bytes(b"damaged")
    assert [f.path.read_bytes() for f in resolve("o/set", "main", ["*"])] == [ROWS, LARGE]


def test_a_branch_that_moves_during_a_build_is_read_at_one_commit(hub: FakeHub) -> None:
    commit = hub.put("o/set", {"a.jsonl": ROWS, "b.jsonl": ROWS})
    access = Access()
    chosen = access.select("o/set", "main", ["*.jsonl"])
    hub.put("o/set", {"a.jsonl": b"other", "b.jsonl": b"other"})
    assert {(f.path.read_bytes(), f.revision) for f in access.fetch(chosen)} == {(ROWS, commit)}


def test_a_renamed_repository_is_followed_and_said(hub: FakeHub) -> None:
    hub.put("new/name", {"a.jsonl": ROWS})
    hub.renamed["old/name"] = "new/name"
    progress = Messages()
    access = Access(progress=progress)
    [file] = access.fetch(access.select("old/name", "main", ["*.jsonl"]))
    assert file.path.read_bytes() == ROWS
    assert progress.lines == ["old/name is now called new/name on the hub"]


@pytest.mark.parametrize(
    ("repo", "message"),
    [
        (
            "o/gated",
            r"o/gated: this repository is gated: accept its terms at \S+/o/gated and set HF_TOK",
        ),
        ("o/none", r"has no such repository, or it is private"),
        ("o/set", r"o/set: it has no revision 'main'"),
        ("o/broken", r"answered HTTP 418"),
        ("not a name", r"not a repository name"),
        ("o/../../api", r"not a repository name"),
    ],
)
def test_each_refusal_of_the_hub_is_one_line(hub: FakeHub, repo: str, message: str) -> None:
    hub.put("o/set", {"a": b""}, branch="v1")
    hub.put("o/gated", {"a.jsonl": ROWS})
    hub.repos["o/gated"].gated = True
    hub.plan.by_path["/o/broken"] = [Status(418)]
    with pytest.raises(DatasetError, match=message) as caught:
        resolve(repo, "main", ["*"])
    assert "\n" not in str(caught.value)


def test_a_token_without_access_to_a_gated_set_is_told_so(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.put("o/gated", {"a.jsonl": ROWS})
    hub.repos["o/gated"].gated = True
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(
        DatasetError, match="the token's account has no access yet: accept its terms"
    ):
        resolve("o/gated", "main", ["*"])
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert resolve("o/gated", "main", ["*"])


def test_names_that_lead_out_of_the_cache_are_not_listed(hub: FakeHub) -> None:
    hub.put("o/set", {"../../evil.jsonl": ROWS, "/etc/evil.jsonl": ROWS, "good.jsonl": ROWS})
    assert [f.name for f in resolve("o/set", "main", ["jsonl"])] == ["good.jsonl"]


def test_a_hub_that_nobody_answers_for_is_not_waited_for(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DatasetError, match=r"o/set: the hub at http://127\.0\.0\.1:9 is not reach"):
        resolve("o/set", "main", ["*"])


def test_files_of_another_branch_lie_under_its_name_in_a_mirror(tmp_path: Path) -> None:
    put(tmp_path / "o/set", "refs/convert/parquet/default/train/0000.parquet")
    [file] = resolve("o/set", "main", ["parquet | refs/convert/parquet"], mirror=tmp_path)
    assert (file.name, file.branch) == ("default/train/0000.parquet", "refs/convert/parquet")


def check_pins(path: Path, resolved: Mapping[str, Sequence[ResolvedFile]]) -> Pins:
    """Check resolved files as a build does: reject changed ones and lock the others."""
    pins = Pins.read(path)
    if wrong := [line for repo in resolved for line in pins.problems(repo, resolved[repo])]:
        raise DatasetError("\n".join(wrong))
    for repo, files in resolved.items():
        pins.record(repo, files)
    pins.write()
    return pins


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
    pins = Pins.read(lock)
    pins.forget("o/set")
    pins.forget("o/two")
    pins.write()
    check_pins(lock, changed)
    check_pins(lock, changed)


def test_branches_are_read_at_the_commits_they_were_locked_at(tmp_path: Path) -> None:
    converted = ResolvedFile(Path("c"), "c", "22", "8" * 40, "refs/convert/parquet")
    pins = check_pins(tmp_path / "l.json", {"o/set": [file_of("11"), converted]})
    assert sorted(json.loads((tmp_path / "l.json").read_text())) == [
        "o/set",
        "o/set@refs/convert/parquet",
    ]
    branches: dict[str | None, str] = {"refs/convert/parquet": "8" * 40}
    assert pins.commits("o/set", "main") == {None: COMMIT, **branches}
    assert pins.commits("o/set", "7" * 40) == branches
    assert pins.commits("o/new", "main") == {}


def test_a_lock_file_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    for text in ("{", "[1]", '{"o/set": 3}', '{"o/set": {"files": {}}}'):
        (tmp_path / "l.json").write_text(text)
        with pytest.raises(DatasetError, match="not a prorl lock file"):
            check_pins(tmp_path / "l.json", {})


ODD = [
    b"<html>sign in</html>", b"", b'{"sha": ', b"[" * 100_000, b"[1]", b'"text"', b"null", b"{}", b'{"sha": 7}',
    b'{"sha": "../../x"}',
]  # fmt: skip
ODD_TREES = [
    b"{}", b"null", b"7", b"[1]", b"[null]", b'[{"type": "file"}]', b'[{"type": "file", "path": 3, "size": 1}]',
    b'[{"type": "file", "path": "a.jsonl", "size": "many"}]', b'[{"type": "file", "path": "a.jsonl", "size": -1}]',
    b'[{"type": "file", "path": "a.jsonl", "lfs": {"oid": "x"}}]',
    b'[{"type": "file", "path": "a.jsonl", "size": 1, "oid": {}}]', b'[["type"]]',
]  # fmt: skip


@pytest.mark.parametrize("body", ODD)
def test_an_odd_answer_about_a_revision_is_one_line(hub: FakeHub, body: bytes) -> None:
    hub.put("o/set", {"a.jsonl": ROWS})
    hub.plan.by_path["/revision/"] = [Body(body)] * 20
    with pytest.raises(DatasetError, match=r"does not answer as a hub does|not JSON") as caught:
        resolve("o/set", "main", ["*"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", ODD_TREES)
def test_an_odd_list_of_files_is_one_line(hub: FakeHub, body: bytes) -> None:
    hub.put("o/set", {"a.jsonl": ROWS})
    hub.plan.by_path["/tree/"] = [Body(body)] * 20
    with pytest.raises(DatasetError, match="does not answer as a hub does") as caught:
        resolve("o/set", "main", ["*"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("data/train-00001-of-00003.parquet", b"x", "2 of its files are missing .*train-00000-of-00003"),
        ("train-00001-of-00002-0af3.parquet", b"x", "1 of its files are missing .*train-00000-of-00002"),
        (".cache/huggingface/download/x.parquet.1f.incomplete", b"", "was not downloaded completely"),
        ("b.parquet", b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "Git LFS pointer.*git lfs pull"),
    ],
)  # fmt: skip
def test_a_mirror_that_is_not_whole_is_refused(
    tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    put(tmp_path / "o/set", "a.parquet", b"x")
    put(tmp_path / "o/set", name, data)
    with pytest.raises(DatasetError, match=said) as caught:
        resolve("o/set", "main", ["parquet"], mirror=tmp_path)
    assert "\n" not in str(caught.value)


def test_a_mirror_that_lacks_a_file_of_the_last_build_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "o/set", "a.jsonl")
    access = Access(tmp_path)
    with pytest.raises(Unreachable, match=r"incomplete: 1 of its files are missing \(b"):
        access.select("o/set", "main", ["jsonl"], locked=["a.jsonl", "b.jsonl", "c.csv"])
    assert access.select("o/set", "main", ["a.jsonl"], locked=["a.jsonl", "b.jsonl"]).names


def test_one_shard_that_is_asked_for_by_name_is_enough(tmp_path: Path) -> None:
    name = "data/train-00001-of-00003.parquet"
    put(tmp_path / "o/set", name)
    [file] = resolve("o/set", "main", [name], mirror=tmp_path)
    assert file.name == name


def test_a_cache_that_was_fetched_in_part_is_not_taken_for_whole(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "datasets--o--set"
    put(folder / "snapshots" / COMMIT, "a.jsonl")
    put(folder, "refs/main", COMMIT.encode())
    assert resolve("o/set", "main", ["jsonl"])
    put(folder, "blobs/1f.incomplete", b"")
    with pytest.raises(DatasetError, match="incomplete"):
        resolve("o/set", "main", ["jsonl"])
