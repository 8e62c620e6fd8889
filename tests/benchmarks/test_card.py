"""The calls on a rented card cover its runs, continue training and carry large files in parts."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_training.config.loading import load_config

FILE = Path(__file__).resolve().parents[2] / "scripts" / "card.py"


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("card", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "card", module)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    return module


def test_parts_are_joined_in_any_order_and_unpacked(
    card: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "PART_BYTES", 1000)
    (tmp_path / "prorl").mkdir()
    (tmp_path / "prorl" / "weights").write_bytes(bytes(range(256)) * 9)
    shutil.make_archive("prorl", "tar", tmp_path, "prorl")
    card.split([Path("prorl.tar")], Path("parts"))
    calls = list(card.plan(Path("card"), Path("parts")))
    carried = [Path(call.carry[0]) for call in calls if call.carry]
    assert len(carried) > 3 and calls[0].carry == ("parts/prorl.tar.000",)
    card.join(carried[::-1], Path("card"))
    assert not [call for call in card.plan(Path("card"), Path("parts")) if call.carry]
    assert card.unpacked()["PRORL_CACHE"] == str(tmp_path / "carried" / "prorl")
    assert (tmp_path / "carried/prorl/weights").read_bytes() == bytes(range(256)) * 9


def test_finished_calls_are_left_out_and_training_is_continued_until_its_curve_bends(
    card: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def left() -> list[str]:
        return [call.name for call in card.plan(Path("card"), None)]

    everything = left()
    assert everything[0] == "doctor-steps" and everything[-1] == "train-3"
    for name in everything:
        Path("card", name).mkdir(parents=True)
        Path("card", name, "exit_code").write_text("0")
    assert left() == ["train-1", "train-2", "train-3"]
    Path("card/train-1/metrics.jsonl").write_text(json.dumps({"step": card.STEPS}) + "\n")
    Path("card/train-2/decisions.jsonl").write_text(json.dumps({"kind": "run_ended"}) + "\n")
    assert left() == ["train-3"]
    assert card.call("train-3", Path("card"), dry=True) == 0
    Path("runs/card-3").mkdir(parents=True)
    Path("runs/card-3/config.yaml").touch()
    card.call("train-3", Path("card"), dry=True)
    first, then = capsys.readouterr().out.splitlines()
    assert first.endswith("--set seed=3 --name card-3") and then.endswith("train --resume card-3")


def test_the_commands_are_understood(card: Any) -> None:
    settings = [word for word in card.LEARN if "=" in word]
    assert load_config("cpu", None, settings).controller.on_stall == ["end"]
    for name, words in card.commands().items():
        if name.startswith("doctor"):
            given = [*words[words.index("doctor") :], "--size", "tiny", "--minutes", "0.1"]
            result = CliRunner().invoke(build_app(), [*given, "--help"])
            assert result.exit_code == 0, result.output
