"""The wheel in an environment outside the checkout: every command on the smallest input.

Dependencies come from the test environment through a .pth file, which leaves out the editable install;
``PRORL_WHEEL_CLEAN=1`` installs them from the index instead.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest
from doubles import RECIPE, write_model

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = "local,server,docker"
TRAIN = """
train --preset quickstart --data data/tiny --model model --name one --steps 1 --set rollout.prompts=2
--set rollout.samples=2 --set rollout.max_tokens=6 --set warm_start.examples=4 --set dynamic_sampling.enabled=false
"""
TASK = '{"id": 1, "task": {"verifier": "math", "reference": {"answer": "4"}}, "response": "\\\\boxed{4}"}\n'
VERBS = {
    "--version": "prorl ",
    "data build --recipe tiny.yaml": "math",
    "data recipes": "quickstart",
    "data inspect data/tiny": "math",
    "data verify data/tiny": "",
    TRAIN: "",
    "train status": "one",
    "train explain one": "",
    "watch one": "step 1 of 1",
    "train presets": "prorl-v2",
    "train export one --out exported": "exported",
    "eval pass-at-k --run one --dataset data/tiny --n 2 --k 1 --set sampling.max_tokens=4": "pass@1",
    "eval compare one --html report.html": "pass@1",
    "eval run --list": "quick_math",
    "verify answer --gold 4 \\boxed{4}": "reward 1",
    "verify file task.jsonl": '"reward": 1.0',
    "verify replay one": "rewards agree",
    "sandbox run program.py": "42",
    "sandbox doctor": "scientific",
    "sandbox build-env --list": "scientific",
    "model list": "",
}
"""Commands in order, and part of their stdout. New commands belong here."""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the ``bin`` folder of an environment with the wheel."""
    root = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = root.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(root / "venv")], check=True)
    python = root / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if os.environ.get("PRORL_WHEEL_CLEAN"):
        with zipfile.ZipFile(wheel) as archive:
            constraints = Path(archive.extract("prorl_common/constraints.txt", root))
        command = [*pip, f"{wheel}[{EXTRAS}]", "--constraint", str(constraints)]
    else:
        (site,) = (root / "venv").glob("lib/python*/site-packages")
        (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        command = [*pip, "--no-deps", "--ignore-installed", str(wheel)]
    subprocess.run(command, check=True, cwd=root)
    return python.parent


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("place")
    write_model(root / "model")
    (root / "tiny.yaml").write_text(RECIPE.format(train=8, validation=2, test=2))
    (root / "task.jsonl").write_text(TASK)
    (root / "program.py").write_text("print(6 * 7)\n")
    return root


def prorl(installed: Path, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [str(installed / "prorl"), *words],
        cwd=place,
        env={**environment, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_packages_come_from_the_wheel_and_have_their_data(installed: Path, place: Path) -> None:
    script = (
        "import importlib, sys\n"
        "from pathlib import Path\n"
        "from prorl_common.errors import CONSTRAINTS\n"
        "from prorl_sandbox.docker_backend.images import DOCKERFILE\n"
        "assert CONSTRAINTS.is_file() and DOCKERFILE.is_file()\n"
        "for name in sys.argv[1:]:\n"
        "    folder = Path(importlib.import_module(name).__file__).parent\n"
        "    assert folder.is_relative_to(sys.prefix), folder\n"
        "    assert (folder / 'py.typed').is_file(), folder\n"
    )
    tree = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = [
        Path(p).name for p in tree["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    ]
    python = str(installed / "python")
    subprocess.run([python, "-c", script, *packages], cwd=place, check=True)
    version = prorl(installed, place, "--version").stdout
    assert version == f"prorl {importlib.metadata.version('prorl')}\n"
    assert tree["project"]["version"] in version


def test_the_quickstart_of_a_random_model_fails_and_shows_its_first_response(
    installed: Path, place: Path
) -> None:
    done = prorl(installed, place, "quickstart", "--model", "model", "--steps", "1")
    assert done.returncode == 1, done.stderr
    assert "groups was usable" in done.stderr
    assert "first response: " in done.stderr


@pytest.mark.parametrize(
    ("words", "part"), VERBS.items(), ids=[" ".join(v.split()[:3]) for v in VERBS]
)
def test_a_verb_works(words: str, part: str, installed: Path, place: Path) -> None:
    done = prorl(installed, place, *words.split())
    assert done.returncode == 0, done.stderr
    assert part in done.stdout
    assert "Traceback" not in done.stderr


def test_completion_is_shown_for_the_shell_that_asks(installed: Path, place: Path) -> None:
    words = [
        "bash",
        "-c",
        f"{installed}/prorl --show-completion && true",
    ]  # not replaced by the command
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "_PRORL_COMPLETE" in done.stdout


def test_the_doctor_names_no_file_that_is_not_there(installed: Path, place: Path) -> None:
    done = prorl(installed, place, "doctor", "--engine", "openrlhf", "--device", "cuda", "--json")
    cures = [check["cure"] for check in json.loads(done.stdout)["checks"]]
    named = [path for cure in cures for path in re.findall(r" -c (\S+)", cure)]
    assert named and all(Path(path).is_file() for path in named)
    assert not any(word in cure for cure in cures for word in ("docs/", "scripts/"))
    here = prorl(installed, place, "doctor", "--json")
    assert all(
        c["name"] == "model" for c in json.loads(here.stdout)["checks"] if c["state"] == "problem"
    )


@pytest.mark.parametrize("method", ["dockerfile", "debootstrap"])
def test_an_image_wants_an_engine_and_nothing_of_a_checkout(
    method: str, installed: Path, place: Path
) -> None:
    done = subprocess.run(
        [str(installed / "prorl"), "sandbox", "build-image", "--method", method],
        cwd=place,
        env={**os.environ, "DOCKER_HOST": "unix:///nowhere/docker.sock"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1
    assert "docker" in done.stderr and "checkout" not in done.stderr


def test_the_reward_server_serves(installed: Path, place: Path) -> None:
    command = [str(installed / "prorl"), "verify", "serve", "--port", "0", "--ready-file", "ready"]
    child = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120
        while not (place / "ready").exists():
            assert child.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)
        address = (place / "ready").read_text().strip()
        with urllib.request.urlopen(f"{address}/healthz", timeout=30) as answer:
            assert answer.status == 200
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
        assert child.returncode == 0
    finally:
        child.kill()
