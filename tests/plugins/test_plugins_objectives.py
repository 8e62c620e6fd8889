from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import prorl
from doubles import write_data, write_model

from prorl_common import PluginError, plugins, use_plugins
from prorl_common.config import ConfigError
from prorl_training import ADVANTAGES, KL_ESTIMATORS, PENALTIES, POLICY_LOSSES
from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.algorithm.shaping import shaped_reward
from prorl_training.config import AdvantageConfig, KLConfig, LossConfig
from prorl_training.config.loading import check_config, load_config, load_saved_config
from prorl_training.run.folder import ResumeError, RunFolder
from prorl_training.run.resume import check_identity, parts_in_use, run_identity
from prorl_verifiers import load_task

pytestmark = pytest.mark.usefixtures("lab_parts")


@pytest.fixture
def no_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Unload the plug-in files of each test."""
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    doors: tuple[Any, ...] = (POLICY_LOSSES, ADVANTAGES, KL_ESTIMATORS, PENALTIES)
    for door in doors:
        door._generation = -1
    yield
    for door in doors:
        door._generation = -1


def plugin(folder: Path, source: str) -> Path:
    file = folder / "mine.py"
    file.write_text("from prorl_training import *\n" + source)
    return file


def test_the_policy_loss_door_computes_by_name_and_options() -> None:
    ones = torch.ones(3)
    config = LossConfig(name="plain", options={"floor": -0.5})
    got = policy_loss(ones, ones, torch.tensor([2.0, 0.0, -3.0]), torch.tensor([3]), config)
    assert got.per_token.tolist() == [-2.0, 0.0, 0.5]
    assert float(got.clipped_fraction) == 0.0


def test_the_advantage_door_computes_by_name() -> None:
    rewards, groups = torch.tensor([1.0, 0.25, 0.5]), torch.tensor([7, 7, 3])
    config = AdvantageConfig(estimator="below_best")
    got = compute_advantages(rewards, groups, torch.ones(3), config)
    assert got.tolist() == [0.0, -0.75, 0.0]


def test_the_kl_door_computes_by_name_under_the_configured_clamp() -> None:
    config = KLConfig(estimator="absolute", clamp="input", clamp_value=2.0)
    got = kl_penalty(torch.tensor([1.0, -5.0]), torch.zeros(2), config)
    assert got.tolist() == [1.0, 2.0]


def test_the_penalty_door_adds_to_the_shaped_reward_alone() -> None:
    config = load_config("prorl-v2", overrides=["penalties.per_token.price=0.01"])
    assert shaped_reward(config, 1.0, 20, False, False) == pytest.approx(0.8)
    scheduled = load_config(
        "prorl-v2", overrides=["length_penalty.form=per_token", "length_penalty.weight=2"]
    )
    assert shaped_reward(scheduled, 1.0, 20, False, True) == pytest.approx(1 - 2 * 0.02)
    assert shaped_reward(scheduled, 1.0, 20, False, False) == 1.0


OPTIONED = """
A = PolicyLossSpec('mine', lambda *a: a[0] * a[-1].options['by'], options={'by': 2.0, 'to': 1})
B = AdvantageSpec('mine', lambda *a: a[0] * a[-1].options['by'], options={'by': 2.0, 'to': 1})
C = KLSpec('mine', lambda d, c: d * c.options['by'], options={'by': 2.0, 'to': 1})
D = PenaltySpec('mine', lambda r, o: o['weight'], options={'weight': -0.25, 'to': 1})
"""


@pytest.mark.parametrize("given", [{}, {"to": 3}])
def test_a_part_finds_its_options_defaults_where_the_config_does_not_name_them(
    given: dict[str, Any], tmp_path: Path, no_files: None
) -> None:
    use_plugins([plugin(tmp_path, OPTIONED)])
    ones = torch.ones(2)
    loss = LossConfig(name="mine", options=given)
    assert policy_loss(ones, ones, ones, ones, loss).per_token.tolist() == [2.0, 2.0]
    advantage = AdvantageConfig(estimator="mine", options=given)
    assert compute_advantages(ones, ones, ones, advantage).tolist() == [2.0, 2.0]
    kl = KLConfig(estimator="mine", options=given, clamp="both")
    assert kl_penalty(ones, 0 * ones, kl).tolist() == [2.0, 2.0]
    assert loss.options == advantage.options == kl.options == given


def test_a_length_penaltys_option_is_not_the_sections_key_of_that_name(
    tmp_path: Path, no_files: None
) -> None:
    use_plugins([plugin(tmp_path, OPTIONED)])
    config = load_config(
        "prorl-v2", overrides=["length_penalty.form=mine", "length_penalty.weight=4"]
    )
    assert shaped_reward(config, 1.0, 20, False, True) == pytest.approx(1 - 4 * 0.25)


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("loss.name=plane", "unknown policy loss 'plane' (did you mean 'plain'?)"),
        ("kl.estimator=k4", "unknown kl 'k4' (did you mean 'k"),
        ("advantage.estimator=gpro", "(did you mean 'grpo'"),
        ("length_penalty.form=printd", "unknown penalty 'printd' (did you mean 'printed'?)"),
        ("loss.options.flor=1", "policy loss clip has no option 'flor'"),
        ("penalties.per_token.prise=1", "penalty per_token has no option 'prise' (did you mean"),
        ("penalties.nothing.price=1", "unknown penalty 'nothing'"),
    ],
)
def test_a_name_or_option_that_is_none_is_one_line_with_the_nearest(
    setting: str, line: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config("prorl-v2", overrides=[setting])
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_run_keeps_where_its_parts_come_from() -> None:
    config = load_config(
        "prorl-v2",
        overrides=[
            "loss.name=plain",
            "advantage.estimator=below_best",
            "kl.estimator=absolute",
            "penalties.per_token.price=0.01",
        ],
    )
    assert [(r["name"], r["source"], r["version"]) for r in parts_in_use(config)] == [
        (name, "lab-parts", "1.0") for name in ("plain", "below_best", "absolute", "per_token")
    ]


def test_a_resume_with_another_plugin_is_refused(tmp_path: Path, no_files: None) -> None:
    file = plugin(tmp_path, "A = PolicyLossSpec(name='mine', loss=lambda *a: -a[0] * a[2])\n")
    use_plugins([file])
    config = load_config("prorl-v2", overrides=["loss.name=mine"])
    assert config.plugins == (str(file),)
    data = tmp_path / "data.jsonl"
    data.write_text("{}\n")
    folder = RunFolder(tmp_path / "run")
    folder.create(config, run_identity(data, None, parts_in_use(config)))
    check_identity(folder, data, parts=parts_in_use(config))
    (known,) = json.loads((folder.path / "identity.json").read_text())["parts"]
    assert known["source"] == "mine.py"
    changed = [{**known, "version": "sha256:other"}]
    with pytest.raises(ResumeError, match=r"other plug-ins \(mine of mine\.py changed\)"):
        check_identity(folder, data, parts=changed)
    with pytest.raises(ResumeError, match="other plug-ins"):
        check_identity(folder, data)


def test_a_run_keeps_the_record_of_the_verifier_of_its_tasks(
    tmp_path: Path, no_files: None
) -> None:
    (tmp_path / "mine.py").write_text(
        "from prorl_verifiers import VerifierSpec\nSPEC = VerifierSpec('mine', lambda a, b: 1.0)\n"
    )
    use_plugins([tmp_path / "mine.py"])
    config = load_config("prorl-v2")
    parts = parts_in_use(config, [load_task("mine", {}), load_task("math", {"answer": "4"})])
    (known,) = parts
    assert (known["name"], known["source"]) == ("mine", "mine.py")
    data = tmp_path / "data.jsonl"
    data.write_text("{}\n")
    folder = RunFolder(tmp_path / "run")
    folder.create(config, run_identity(data, None, parts))
    check_identity(folder, data, parts=parts)
    with pytest.raises(ResumeError, match=r"other plug-ins \(mine of mine\.py changed\)"):
        check_identity(folder, data, parts=[{**known, "version": "sha256:other"}])


def test_a_saved_config_loads_its_plugins_again(tmp_path: Path, no_files: None) -> None:
    file = plugin(tmp_path, "A = KLSpec(name='mine', estimate=lambda d, c: d**4)\n")
    saved = tmp_path / "config.yaml"
    saved.write_text("plugins: [mine.py]\nkl: {estimator: mine}\n")
    config = load_saved_config(saved)
    assert (config.kl.estimator, config.plugins) == ("mine", (str(file),))
    saved.write_text("plugins: [moved.py]\nkl: {estimator: mine}\n")
    with pytest.raises(
        PluginError, match=r"moved\.py does not exist: .* under plugins: in .*config\.yaml"
    ):
        load_saved_config(saved)


@pytest.mark.parametrize(
    ("source", "call", "line"),
    [
        (
            "A = PolicyLossSpec('mine', lambda *a: a[0].sum())\n",
            lambda ones: policy_loss(ones, ones, ones, ones, LossConfig(name="mine")),
            r"policy loss 'mine' must return one number per token, shape \(3,\), but returned \(\)",
        ),
        (
            "A = AdvantageSpec('mine', lambda *a: a[0][:1])\n",
            lambda ones: compute_advantages(ones, ones, ones, AdvantageConfig(estimator="mine")),
            "one number per trajectory",
        ),
        (
            "A = KLSpec('mine', lambda d, c: d[None])\n",
            lambda ones: kl_penalty(ones, ones, KLConfig(estimator="mine")),
            "one number per token",
        ),
        (
            "A = PenaltySpec('mine', lambda r, o: float('nan'))\n",
            lambda ones: shaped_reward(
                check_config({"penalties": {"mine": {}}}), 1.0, 5, False, False
            ),
            "must return a finite number, but returned nan",
        ),
        (
            "A = PolicyLossSpec('mine', lambda *a: None)\n",
            lambda ones: policy_loss(ones, ones, ones, ones, LossConfig(name="mine")),
            r"one number per token, shape \(3,\), but returned None, no tensor",
        ),
        (
            "A = AdvantageSpec('mine', lambda *a: a[0].numpy())\n",
            lambda ones: compute_advantages(ones, ones, ones, AdvantageConfig(estimator="mine")),
            r"returned array\(\[1\., 1\., 1\.\]\), no tensor",
        ),
        (
            "A = KLSpec('mine', lambda d, c: 0.5)\n",
            lambda ones: kl_penalty(ones, ones, KLConfig(estimator="mine", clamp="both")),
            "returned 0.5, no tensor",
        ),
    ],
)
def test_a_part_that_returns_nonsense_is_one_clear_line(
    source: str, call: Callable[[torch.Tensor], Any], line: str, tmp_path: Path, no_files: None
) -> None:
    use_plugins([plugin(tmp_path, source)])
    with pytest.raises(PluginError, match=line):
        call(torch.ones(3))


ONE_STEP = {
    "model.path": "model",
    "model.device": "cpu",
    "data.path": "data/tiny",
    "rollout.prompts": 2,
    "rollout.samples": 2,
    "rollout.max_tokens": 6,
    "loss.mini_batches": 2,
    "dynamic_sampling.enabled": "false",
    "warm_start.examples": 0,
    "validation.every": 0,
    "penalties.per_token.price": 0.1,
}
HALF = "HALF = PolicyLossSpec('mine', lambda new, old, a, n, c: -(new - old).exp() * (a + 1) / 2)\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_data(tmp_path_factory.mktemp("objectives"))
    write_model(root / "model")
    return root


def train(place: Path, *arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return prorl(place, "train", *arguments, *sets)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.slow
def test_a_run_trains_with_all_four_doors_and_is_not_resumed_with_another_file(place: Path) -> None:
    file = plugin(place, HALF)
    start = ("--preset", "cpu", "--steps", "1", "--name", "lab", "--plugin", str(file))
    doors = {"loss.name": "mine", "advantage.estimator": "below_best", "kl.estimator": "absolute"}
    done = train(place, *start, **(ONE_STEP | doors))
    assert done.returncode == 0, done.stderr
    (row,) = rows(place / "runs/lab/metrics.jsonl")
    assert row["shaped_reward_mean"] < row["reward_mean"]
    assert row["grad_norm"] > 0 and row["updates_skipped"] == 0
    parts = json.loads((place / "runs/lab/identity.json").read_text())["parts"]
    assert [p["name"] for p in parts] == ["mine", "below_best", "absolute", "per_token"]
    assert [p["source"] for p in parts] == ["mine.py", "lab-parts", "lab-parts", "lab-parts"]
    plugin(place, HALF.replace("/ 2", "/ 3"))
    again = train(place, "--resume", "lab", "--steps", "2")
    assert again.returncode == 2 and "Traceback" not in again.stderr
    assert "mine of mine.py changed" in again.stderr
    plugin(place, HALF)
    assert train(place, "--resume", "lab", "--steps", "2").returncode == 0
    assert [r["step"] for r in rows(place / "runs/lab/metrics.jsonl")] == [1, 2]


def test_a_simulation_knows_the_parts_of_a_file_and_no_others(place: Path) -> None:
    file = plugin(place, HALF)
    asked = ("simulate", "--preset", "cpu", "--steps", "3", "--json", "--set", "loss.name=mine")
    known = train(place, *asked, "--plugin", str(file))
    assert known.returncode == 0 and isinstance(json.loads(known.stdout), list), known.stderr
    unknown = train(place, *asked)
    assert unknown.returncode == 2 and "unknown policy loss 'mine'" in unknown.stderr
