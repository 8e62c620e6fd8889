from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl as command
from typer.testing import CliRunner

from prorl_cli import doctor as doctor_command
from prorl_cli.doctor import check_model, free_memory_gb
from prorl_cli.main import build_app
from prorl_common.checks import Check, is_installed
from prorl_common.errors import CONSTRAINTS, pip_install
from prorl_inference.testing import byte_tokenizer, tiny_model


def prorl(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return command(folder, *arguments, PRORL_CACHE=str(folder / "cache"), **variables)


def test_model_list_prints_json_on_stdout(tmp_path: Path) -> None:
    done = prorl("model", "list", "--json", folder=tmp_path)
    rows = json.loads(done.stdout)
    assert [row["name"] for row in rows] == ["smollm2-135m"]
    assert rows[0]["path"] is None


def test_chat_answers_the_same_for_the_same_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = tiny_model(seed=1, spread=0.3)
    model.save_pretrained(tmp_path / "m")
    tokenizer: Any = byte_tokenizer()
    tokenizer.save_pretrained(tmp_path / "m")
    line = ("model", "chat", "--model", "./m", "--max-tokens", "5", "--json", "--seed", "3", "hi")
    monkeypatch.chdir(tmp_path)
    first, second = (CliRunner().invoke(build_app(), line) for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.stdout == second.stdout
    answer = json.loads(first.stdout)
    assert len(answer["token_ids"]) == len(answer["logprobs"]) <= 5


def test_fetching_into_a_place_that_cannot_be_written_is_one_line_and_exit_2(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    done = command(tmp_path, "model", "fetch", PRORL_CACHE=str(tmp_path / "file" / "cache"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "PRORL_CACHE" in done.stderr


def test_doctor_prints_every_check_as_json_and_its_exit_code_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path / "cache"))
    done = CliRunner().invoke(build_app(), ["doctor", "--json"])
    report = json.loads(done.stdout)
    assert done.exit_code == (0 if report["ok"] else 2)
    checks = {check["name"]: check for check in report["checks"]}
    assert {"python", "packages", "torch", "memory", "sandbox", "model"} <= set(checks)
    assert checks["model"]["state"] == "note"
    assert checks["model"]["cure"] == "prorl model fetch"
    assert all(check["cure"] for check in report["checks"] if check["state"] != "ok")
    assert list(tmp_path.iterdir()) == [], "doctor changes nothing"


def test_doctor_fails_on_a_corrupt_model_and_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache" / "models" / "smollm2-135m"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text("cut off")
    card = {"alias": "smollm2-135m", "files": {"model.safetensors": "0" * 64}}
    (folder / "prorl_model.json").write_text(json.dumps(card))
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest's workers set it, and tables lose columns
    done = CliRunner().invoke(build_app(), ["doctor"])
    assert done.exit_code == 2
    assert "prorl model fetch smollm2-135m --force" in " ".join(done.stdout.split())


def distribution(folder: Path, name: str, points: str) -> None:
    """Write the metadata of an installed distribution with the given entry points."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


def test_doctor_names_what_others_add_and_a_part_that_cannot_be_loaded_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_lab").mkdir()
    (tmp_path / "half_lab" / "__init__.py").write_text("")
    (tmp_path / "half_lab" / "sums.yaml").write_text("")
    distribution(
        tmp_path,
        "half-lab",
        "[prorl.backends]\nlost = half_lab.lost:SPEC\n[prorl.recipes]\nlab = half_lab\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    done = CliRunner().invoke(build_app(), ["doctor", "--json"])
    found = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "plug-in half-lab 1.0"]
    assert done.exit_code == 2
    assert [check["state"] for check in found] == ["problem", "ok"]
    assert "No module named 'half_lab.lost'" in found[0]["detail"]
    assert found[0]["cure"] == "fix it, or run pip uninstall half-lab"
    assert found[1]["detail"] == "prorl.recipes: sums"


def test_a_folder_without_init_is_not_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "datasets_like").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not is_installed("datasets_like")
    assert not is_installed("no_such_package_anywhere")
    assert is_installed("json")


def test_a_missing_package_of_the_local_extra_is_a_problem_and_of_docker_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        doctor_command,
        "EXTRAS",
        {
            "local": doctor_command.Extra(("no_such_package_a",), "training", needed=True),
            "docker": doctor_command.Extra(("no_such_package_b",), "the docker sandbox"),
        },
    )
    local, docker = doctor_command.check_packages()
    assert (local.state, docker.state) == ("problem", "note")
    assert local.cure == pip_install("prorl[local]") and CONSTRAINTS.is_file()


def test_a_model_that_pip_cannot_fetch_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path))
    monkeypatch.setattr(doctor_command, "is_installed", lambda module: module != "pip")
    found: Check = check_model()
    assert found.state == "problem"
    assert "ensurepip" in found.cure


def test_free_memory_is_the_smaller_of_the_machine_and_its_control_group(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n")
    assert free_memory_gb(meminfo, tmp_path) == pytest.approx(8.192)
    (tmp_path / "memory.max").write_text("3000000000\n")
    (tmp_path / "memory.current").write_text("1000000000\n")
    assert free_memory_gb(meminfo, tmp_path) == pytest.approx(2.0)
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory_gb(meminfo, tmp_path) == pytest.approx(8.192)
    assert free_memory_gb(tmp_path / "absent", tmp_path) is None
