from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_common import UserError
from prorl_sandbox.environments import build as building
from prorl_sandbox.environments import store
from prorl_sandbox.environments.build import BuildError, build
from prorl_sandbox.environments.store import (
    PACKAGED,
    Environment,
    EnvironmentMissing,
    Requirements,
    Target,
    packaged,
    read,
)

Wheel = Callable[..., str]
TINY = {"tinypack/__init__.py": "VALUE = 1\n", "tinypack/tests/__init__.py": ""}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path / "cache"))
    store._owners.cache_clear()
    return tmp_path / "cache" / "environments"


@pytest.fixture(autouse=True)
def tinypack(tmp_path: Path, write_wheel: Wheel) -> None:
    write_wheel(tmp_path / "wheels", "tinypack", "1.0", TINY)


def tiny(tmp_path: Path, lines: str = "tinypack==1.0", preload: str = "tinypack") -> Requirements:
    """Return requirements that find wheels in the test's folder only."""
    places = f"--no-index\n--find-links {tmp_path / 'wheels'}"
    return Requirements("mylab", f"# preload: {preload}\n{places}\n{lines}\n")


def test_it_is_built_once_whole_read_only_and_said_to_hold_what_it_holds(tmp_path: Path) -> None:
    wanted = tiny(tmp_path)
    environment, made = build(wanted)
    folder = Path(environment.folder)
    assert made and environment.modules == ("tinypack",)
    assert (folder / "tinypack/__init__.py").stat().st_mode & 0o222 == 0
    assert folder.stat().st_mode & 0o222 == 0
    assert list(folder.glob("tinypack/__pycache__/*.pyc"))
    assert build(wanted) == (environment, False)
    assert store.find("mylab", Target.current()) == environment
    facts = store.manifest(folder.parent)
    assert facts is not None and facts["packages"] == {"tinypack": "1.0"}
    assert facts["requirements_sha256"] == wanted.digest


def test_it_is_not_there_for_another_python_and_the_cure_is_named(tmp_path: Path) -> None:
    build(tiny(tmp_path))
    with pytest.raises(EnvironmentMissing, match="run 'prorl sandbox build-env mylab'"):
        store.find("mylab", Target("3.99", "x86_64"))
    with pytest.raises(EnvironmentMissing, match="scientific is not built: run 'prorl sandbox"):
        store.find("scientific", Target.current())
    with pytest.raises(UserError, match=r"did you mean 'mylab'"):
        store.find("mylap", Target.current())


def test_other_requirements_make_another_and_the_older_goes_unless_it_is_in_use(
    tmp_path: Path, write_wheel: Wheel
) -> None:
    first, _ = build(tiny(tmp_path))
    write_wheel(tmp_path / "wheels", "tinypack", "2.0", TINY)
    held = store.hold(Path(first.folder))
    second, made = build(tiny(tmp_path, "tinypack==2.0"))
    assert made and Path(first.folder).is_dir()
    os.close(held)
    write_wheel(tmp_path / "wheels", "tinypack", "3.0", TINY)
    third, _ = build(tiny(tmp_path, "tinypack==3.0"))
    assert not Path(first.folder).exists() and not Path(second.folder).exists()
    assert store.find("mylab", Target.current()) == third


def test_what_is_left_out_is_not_kept(tmp_path: Path) -> None:
    wanted = tiny(tmp_path)
    with_line = Requirements("mylab", f"# leave-out: **/tests\n{wanted.text}")
    environment, _ = build(with_line)
    assert not (Path(environment.folder) / "tinypack/tests").exists()


def test_a_wheel_with_another_hash_is_refused_and_nothing_is_left(
    tmp_path: Path, own_cache: Path
) -> None:
    with pytest.raises(BuildError, match=r"could not install environment mylab .*HASH|hash"):
        build(tiny(tmp_path, f"tinypack==1.0 --hash=sha256:{'0' * 64}"))
    assert store.requirements_of("mylab") is None
    assert [path.name for path in (own_cache / "mylab").iterdir()] == [".lock"]


def test_with_hashes_nothing_comes_without_one(tmp_path: Path, write_wheel: Wheel) -> None:
    digest = write_wheel(tmp_path / "wheels", "otherpack", "1.0", {"otherpack.py": ""})
    with pytest.raises(BuildError, match="--require-hashes"):
        build(tiny(tmp_path, f"otherpack==1.0 --hash=sha256:{digest}\ntinypack==1.0"))


def test_no_set_up_code_of_a_package_runs(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    source = tmp_path / "wheels" / "sourcepack-1.0"
    source.mkdir(parents=True)
    (source / "setup.py").write_text(f"open({str(marker)!r}, 'w')\n")
    with tarfile.open(tmp_path / "wheels" / "sourcepack-1.0.tar.gz", "w:gz") as archive:
        archive.add(source, "sourcepack-1.0")
    with pytest.raises(BuildError, match="sourcepack"):
        build(tiny(tmp_path, "sourcepack==1.0"))
    assert not marker.exists()


@pytest.mark.parametrize(
    "line",
    ["-e .", "./folder", "pack @ https://example.org/p.whl", "--no-binary :all:", "-r more.txt"],
)
def test_a_line_that_is_no_package_of_an_index_is_refused(line: str) -> None:
    with pytest.raises(UserError, match="not the name of a package"):
        Requirements("mylab", f"numpy\n{line}\n")


@pytest.mark.parametrize("name", ["stdlib", "", "../up", "Big", "a b"])
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="cannot be an environment's name"):
        Requirements(name, "numpy\n")


def test_our_own_environment_cannot_be_taken_over(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="prorl's own environment"):
        read("scientific", tmp_path / "r.txt")
    with pytest.raises(UserError, match="cannot read"):
        read("mylab", tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("module", "why"), [("nowhere", "No module named 'nowhere'"), ("busypack", "starts threads")]
)
def test_a_module_that_cannot_be_preloaded_is_found_when_it_is_built(
    tmp_path: Path, module: str, why: str, write_wheel: Wheel
) -> None:
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    write_wheel(tmp_path / "wheels", "busypack", "1.0", {"busypack.py": thread})
    with pytest.raises(BuildError, match=why):
        build(tiny(tmp_path, "tinypack==1.0\nbusypack==1.0", preload=module))


def test_the_smallest_line_with_all_that_a_source_names_is_loaded() -> None:
    lines = (("numpy",), ("numpy", "pandas"), ("numpy", "scipy", "scipy.stats"))
    environment = Environment("e", "/f", lines)
    assert environment.preload_for("print(1)") == ()
    assert environment.preload_for("import numpy as np") == ("numpy",)
    assert environment.preload_for("from scipy import stats") == lines[2]
    assert environment.preload_for("import pandas, numpy") == lines[1]
    everything = ("numpy", "pandas", "scipy", "scipy.stats")
    assert environment.preload_for("import pandas\nimport scipy") == everything
    assert environment.preload_for("numpyish = 1") == ()


def test_the_scientific_one_is_pinned_and_has_a_hash_for_every_python_and_machine() -> None:
    found = packaged("scientific")
    assert found is not None and found.hashed and set(PACKAGED) == {"scientific"}
    entries = re.split(r"\n(?=[A-Za-z])", found.text)
    names = {re.match(r"([\w-]+)==[\w.]+ \\\n", entry).group(1) for entry in entries[1:]}  # type: ignore[union-attr]
    promised = {"numpy", "scipy", "pandas", "sympy", "networkx", "sortedcontainers", "pytest"}
    assert promised <= names
    for entry in entries[1:]:
        compiled = entry.startswith(("numpy", "scipy", "pandas"))
        assert entry.count("--hash=sha256:") == (6 if compiled else 1), entry.splitlines()[0]


def test_pip_is_asked_for_wheels_of_another_python_and_machine() -> None:
    flags = building.platform_flags("3.13", "aarch64")
    assert "--only-binary=:all:" in flags and "--python-version=3.13" in flags
    assert {"--platform=manylinux_2_28_aarch64", "--platform=manylinux2014_aarch64"} <= set(flags)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("ModuleNotFoundError: No module named 'numpy'\n", "environment scientific has it"),
        ("ModuleNotFoundError: No module named 'scipy.stats'\n", "no module named scipy here"),
        ("ModuleNotFoundError: No module named 'nowhere'\n", ""),
        ("ModuleNotFoundError: No module named 'numpy\x1b[31m'\n", ""),
        ("x: ModuleNotFoundError: No module named 'numpy'\n", ""),
    ],
)
def test_a_missing_module_names_the_environment_that_has_it(stderr: str, said: str) -> None:
    assert said in store.missing_module_hint(stderr, "stdlib")
    assert bool(said) == bool(store.missing_module_hint(stderr, "stdlib"))
    assert store.missing_module_hint(stderr, "scientific") == ""


def test_a_missing_module_of_an_own_environment_is_named_too(tmp_path: Path) -> None:
    build(tiny(tmp_path))
    store._owners.cache_clear()
    found = store.missing_module_hint("ModuleNotFoundError: No module named 'tinypack'", "stdlib")
    assert found == "no module named tinypack here: environment mylab has it"
    store._owners.cache_clear()
