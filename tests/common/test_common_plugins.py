from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from prorl_common import (
    Door,
    FolderDoor,
    PluginError,
    UnknownNameError,
    plugin_environment,
    plugins,
    use_plugins,
)

GROUP = "prorl.test-parts"
HEAD = "from test_parts_room import PartSpec\n"


@dataclass(frozen=True)
class PartSpec:
    """A minimal spec."""

    name: str
    weight: int = 0


@dataclass(frozen=True)
class OtherSpec:
    """The spec of another door in the same group."""

    name: str


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Unload all plug-ins and make PartSpec importable from ``test_parts_room``."""
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    monkeypatch.setitem(sys.modules, "test_parts_room", sys.modules[__name__])
    yield


def install(folder: Path, name: str, points: dict[str, str], source: str) -> None:
    """Write a distribution (version 1.5) with one module ``<name>_parts`` into ``folder``."""
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    lines = "".join(f"{key} = {value}\n" for key, value in points.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
    (folder / f"{name}_parts.py").write_text(source)


def door() -> Door[PartSpec]:
    return Door(GROUP, PartSpec, "part")


def test_an_entry_point_may_be_a_spec_a_list_or_a_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        HEAD + "ONE = PartSpec('one')\nMANY = [PartSpec('two'), PartSpec('three')]\n"
        "def made():\n    return PartSpec('four', 4)\n"
    )
    points = {x: f"acme_parts:{x}" for x in ("ONE", "MANY", "made")}
    install(tmp_path, "acme", points, source)
    monkeypatch.syspath_prepend(tmp_path)
    there = door()
    assert there.names() == ("four", "one", "three", "two")
    assert there.get("four").weight == 4
    assert str(there.origin("two")) == "acme 1.5"
    assert there.records(["one"]) == [
        {"group": GROUP, "name": "one", "source": "acme", "version": "1.5"}
    ]


def test_a_door_takes_the_specs_of_its_own_type_only(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from test_parts_room import OtherSpec, PartSpec\nA = PartSpec('a')\nB = OtherSpec('b')\n"
    )
    use_plugins([file])
    assert door().names() == ("a",)
    assert Door(GROUP, OtherSpec, "other").names() == ("b",)


def test_a_door_that_was_asked_before_sees_a_file_loaded_later(tmp_path: Path) -> None:
    there = door()
    assert there.names() == ()
    file = tmp_path / "mine.py"
    file.write_text(HEAD + "A = PartSpec('a')\n")
    use_plugins([file])
    assert there.names() == ("a",)
    assert there.origin("a").version.startswith("sha256:")


def test_an_unknown_name_lists_the_nearest_and_where_parts_come_from(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(HEAD + "A = PartSpec('exact')\n")
    use_plugins([file])
    with pytest.raises(UnknownNameError) as caught:
        door().get("exatc")
    assert str(caught.value) == (
        "unknown part 'exatc' (did you mean 'exact'?): there are exact (of mine.py)"
    )


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("1 / 0\n", "cannot be loaded: ZeroDivisionError: division by zero (bad.py, line 1)"),
        ("\n\ndef f(:\n", "SyntaxError: invalid syntax (bad.py, line 3)"),
        ("import no_such_module_at_all\n", "ModuleNotFoundError"),
        ("x = 1\n", "contains no spec"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_line(tmp_path: Path, source: str, line: str) -> None:
    file = tmp_path / "bad.py"
    file.write_text(source)
    with pytest.raises(PluginError) as caught:
        use_plugins([file])
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_one_that_is_no_python_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="cannot be read"):
        use_plugins([tmp_path / "none.py"])
    with pytest.raises(PluginError, match=r"is not a Python file"):
        use_plugins([tmp_path / "parts.yaml"])


def test_a_distribution_that_cannot_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "broken", {"x": "broken_parts:X"}, "raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match=r"broken 1\.5 .*RuntimeError: no licence.*pip uninstall"):
        door().names()


def test_an_entry_point_that_is_no_spec_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "strange", {"x": "strange_parts:X"}, "def X():\n    return 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PluginError, match="provides int, not a spec"):
        door().names()


def test_two_parts_of_one_name_are_refused_with_both_sources(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(HEAD + f"# {name}\nA = PartSpec('a')\n")
    use_plugins([tmp_path / "one.py", tmp_path / "two.py"])
    with pytest.raises(PluginError, match=r"part 'a' is defined twice, by one\.py .*two\.py"):
        door().names()


def test_a_plugin_that_imports_a_spec_there_is_already_does_not_name_it_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "base", {"ONE": "base_parts:ONE"}, HEAD + "ONE = PartSpec('one')\n")
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(HEAD + "from base_parts import ONE\nTWO = PartSpec('two', ONE.weight + 1)\n")
    use_plugins([file])
    there = door()
    assert there.names() == ("one", "two")
    assert there.origin("one").source == "base"


def test_what_goes_wrong_in_a_part_of_ours_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "own", {"broken": "own_parts:X"}, "raise RuntimeError('a bug')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plugins, "OURS", "own")
    there = door()
    assert there.names() == ("broken",)
    with pytest.raises(RuntimeError, match="a bug"):
        there.get("broken")


def test_the_same_bytes_in_two_places_are_one_plugin(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(HEAD + "A = PartSpec('a')\n")
    assert len(use_plugins([tmp_path / "one.py", tmp_path / "two.py"])) == 1
    assert door().names() == ("a",)


def test_a_child_process_loads_the_files_of_its_parent(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n" + HEAD + "A = PartSpec('a')\n"
    )
    (tmp_path / "test_parts_room.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass PartSpec:\n    name: str\n"
    )
    use_plugins([file])
    assert json.loads(os.environ[plugins.ENVIRONMENT])[0][0] == str(file)
    script = (
        "import prorl_common; (f,) = prorl_common.plugin_files();"
        "from test_parts_room import PartSpec;"
        f"print(prorl_common.Door({GROUP!r}, PartSpec, 'part').names())"
    )
    environment = {**os.environ, **plugin_environment()}
    child = [sys.executable, "-c", script]
    out = subprocess.run(child, check=True, capture_output=True, text=True, env=environment)
    assert out.stdout == "('a',)\n"
    file.write_text(file.read_text() + "# changed\n")
    late = subprocess.run(child, check=False, capture_output=True, text=True, env=environment)
    assert "has changed since this command started" in late.stderr


def test_our_own_parts_are_named_like_their_entry_points() -> None:
    """Names are listed without importing our parts, so the entry points must match."""
    for point in importlib.metadata.distribution("prorl").entry_points:
        if not point.group.startswith("prorl.") or point.group in (
            "prorl.recipes",
            "prorl.benchmarks",
        ):
            continue
        pytest.importorskip("torch")
        assert point.load().name == point.name.rpartition(".")[2], point


def test_a_folder_door_finds_files_of_a_package_and_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_recipes"
    package.mkdir()
    (package / "tiny.yaml").write_text("a: 1\n")
    install(tmp_path, "acme", {"all": "acme_recipes"}, "")
    monkeypatch.syspath_prepend(tmp_path)
    folder = FolderDoor(GROUP, "recipe")
    assert folder.names() == ("tiny",)
    file, origin = folder.find("tiny")
    assert (file.read_text(), origin.source) == ("a: 1\n", "acme")
    assert folder.find(str(package / "tiny.yaml"))[1].version.startswith("sha256:")
    with pytest.raises(UnknownNameError, match=r"did you mean 'tiny'.*or give the path of a file"):
        folder.find("tini")
    with pytest.raises(UnknownNameError, match="no such file"):
        folder.find("./none.yaml")
