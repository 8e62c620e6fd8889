"""scripts/bundle.sh with small wheels made here and an index that holds only them."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def write_wheel(folder: Path, name: str, *requires: str) -> None:
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in requires)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", f"NAME = {name!r}\n{'# ' + 'x' * 700_000}\n")
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", metadata)
        wheel.writestr(
            f"{name}-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")


def run(*command: str | Path, **more: str) -> str:
    environment = {**os.environ, "PIP_CONFIG_FILE": os.devnull, **more}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_bundle_installs_without_an_index_and_leaves_out_what_is_there(tmp_path: Path) -> None:
    index, bundle = tmp_path / "index", tmp_path / "bundle"
    index.mkdir()
    for name, *requires in [
        ("app", "leaf", "heavy>=1"),
        ("leaf",),
        ("heavy", "driver"),
        ("driver",),
    ]:
        write_wheel(index, name, *requires)
    (tmp_path / "present").write_text("heavy==1.5+local\n")
    run(
        *("bash", ROOT / "scripts/bundle.sh", "--present", tmp_path / "present"),
        *("--part-mb", "1", "--out", bundle, "app"),
        PYTHON=sys.executable,
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(index),
    )
    listed = (bundle / "wheels.txt").read_text().split()
    assert [wheel.partition("-")[0] for wheel in listed] == ["app", "leaf"]
    sizes = [part.stat().st_size for part in bundle.glob("part-*")]
    assert len(sizes) == 2 and max(sizes) == 1_000_000

    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    (site,) = tmp_path.glob("venv/lib/python*/site-packages")
    pip = importlib.util.find_spec("pip")
    assert pip is not None and pip.origin is not None
    (site / "pip.pth").write_text(f"{Path(pip.origin).parents[1]}\n")
    run("sh", bundle / "install.sh", tmp_path / "venv/bin/python", PIP_FIND_LINKS="")
    assert (site / "app.py").exists() and (site / "leaf.py").exists()
