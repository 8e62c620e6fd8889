"""Files in a box's root: libraries found from ELF files, tools from Debian's database."""

from __future__ import annotations

import marshal
from pathlib import Path

import pytest

from prorl_sandbox.environments.store import interpreter
from prorl_sandbox.local import needs
from prorl_sandbox.local.view import PREFIX, Tools, View, tools_view

STATUS = """Package: tool
Status: install ok installed
Depends: left (>= 1), gone | virtual:any

Package: left
Status: install ok installed
Depends: tool

Package: other
Status: install ok installed
Provides: virtual (= 2)

Package: base
Status: install ok installed
Essential: yes

Package: removed
Status: deinstall ok config-files
Essential: yes
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package database of four packages."""
    (tmp_path / "status").write_text(STATUS)
    (tmp_path / "info").mkdir()
    for name in ("tool", "left:amd64", "other", "base", "removed", "stranger"):
        text = f"/.\n/usr/bin/{name}\n/usr/share/doc/{name}/copyright\n"
        (tmp_path / "info" / f"{name}.list").write_text(text)
    monkeypatch.setattr(needs, "_DATABASE", tmp_path)
    for cached in (needs.package_of, needs._installed, needs._paths):
        cached.cache_clear()
        monkeypatch.setattr(needs, cached.__name__, cached.__wrapped__)


def test_a_tool_comes_with_what_it_depends_on_and_what_is_essential(database: None) -> None:
    assert needs.package_of("/usr/bin/tool") == needs.package_of("/bin/tool") == "tool"
    assert needs.package_of("/usr/bin/nothing") is None
    files = needs.files_of(["tool"])
    assert files == {
        "/.",
        "/usr/bin/tool",
        "/usr/bin/left:amd64",
        "/usr/bin/other",
        "/usr/bin/base",
    }
    assert needs.files_of(["absent"]) == {"/.", "/usr/bin/base"}


def test_the_interpreter_needs_a_loader_and_a_c_library_that_exist() -> None:
    needed = needs.needed_by([interpreter()])
    assert any(name.startswith("libc.") for name in needed)
    assert any("/ld-" in name for name in needed)
    assert all(Path(path).is_file() for path in needed.values())


def test_what_is_no_elf_file_needs_nothing(tmp_path: Path) -> None:
    for name, data in (
        ("text", b"#!/bin/sh"),
        ("short", b"\x7fELF\x02\x01" + bytes(20)),
        ("empty", b""),
    ):
        (tmp_path / name).write_bytes(data)
    damaged = Path(interpreter()).read_bytes()[:4096]
    (tmp_path / "cut").write_bytes(damaged)
    assert needs.needed_by(map(str, tmp_path.iterdir())).keys() <= {"/lib64/ld-linux-x86-64.so.2"}


def test_a_folder_is_taken_with_its_links_but_for_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file.py").write_text("")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test.py").write_text("")
    (tmp_path / "link").symlink_to("kept")
    view = View().with_folder(str(tmp_path), "/there", ("tests",))
    assert view.files == ((f"{tmp_path}/kept/file.py", "/there/kept/file.py"),)
    assert view.links == (("/there/link", "kept"),)


def test_a_hidden_path_gives_way_to_one_of_its_length() -> None:
    listing = marshal.loads(
        View().hiding("/opt/python", PREFIX).hiding("/x", PREFIX).listing().data
    )
    assert listing["hidden"] == (("/opt/python", "///////" + PREFIX),)
    assert len(listing["hidden"][0][1]) == len("/opt/python")


def test_an_absent_tool_adds_no_program() -> None:
    view = tools_view(Tools((("no-such-tool", "nor-this-one"),)))
    assert not [target for _, target in view.files if "no-such-tool" in target]


def test_a_packages_file_that_not_everyone_may_read_stays_outside(
    tmp_path: Path, database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, secret = tmp_path / "shown", tmp_path / "secret"
    for path, mode in ((shown, 0o644), (secret, 0o640)):
        path.write_text("")
        path.chmod(mode)
    monkeypatch.setattr(needs, "files_of", lambda names: {str(shown), str(secret)})
    found = {origin for origin, _ in tools_view.__wrapped__(Tools((("sh",),))).files}
    assert str(shown) in found
    assert str(secret) not in found
