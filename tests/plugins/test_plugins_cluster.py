from __future__ import annotations

import json
from pathlib import Path

import pytest
from cluster_runs import finish, output_of, rows_of, start, write_place

pytestmark = pytest.mark.usefixtures("openrlhf_stack")
LAB_LOSS = Path(__file__).parent / "lab_parts" / "lab_parts" / "policy_loss.py"
OTHER_KL = """
from pathlib import Path
from prorl_training import KLSpec

def estimate(log_ratio, config):
    Path(config.options["seen"]).touch()
    return 2 * log_ratio**2

SPEC = KLSpec(name="four_k2", estimate=estimate, options={"seen": ""})
"""


def test_the_policy_loss_and_kl_doors_train_two_steps_on_the_cluster_engine(tmp_path: Path) -> None:
    place = write_place(tmp_path)
    loss, kl, seen = place / "lab_loss.py", place / "other_kl.py", place / "seen"
    loss.write_text(LAB_LOSS.read_text().replace('name="plain"', 'name="lab_plain"'))
    kl.write_text(OTHER_KL)
    options = ["--config", "config.yaml", "--name", "outside", "--steps", "2"]
    settings = [
        f"plugins=[{loss}, {kl}]",
        "loss.name=lab_plain",
        "loss.options.floor=-2",
        "kl.estimator=four_k2",
        f"kl.options.seen={seen}",
        "validation.every=0",
        "openrlhf.cpu_ranks=1",
        "controller.reset_interval=0",
        "length_penalty.weight=0",
    ]
    words = [word for setting in settings for word in ("--set", setting)]
    assert finish(start(place, *options, *words), place) == 0, output_of(place)
    assert seen.exists(), "the estimate was computed by the plug-in"
    run = place / "runs" / "outside"
    rows = rows_of(run / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    assert all(row["grad_norm"] > 0 and row["clipped_fraction"] == 0 for row in rows)
    assert rows[1]["kl"] > 0
    parts = json.loads((run / "identity.json").read_text())["parts"]
    assert [(part["name"], part["source"]) for part in parts] == [
        ("lab_plain", "lab_loss.py"),
        ("four_k2", "other_kl.py"),
    ]
    kl.write_text(OTHER_KL.replace("2 *", "3 *"))
    assert finish(start(place, "--resume", "outside", "--steps", "3"), place) == 2
    assert "was started with other plug-ins (four_k2 of other_kl.py" in output_of(place)
