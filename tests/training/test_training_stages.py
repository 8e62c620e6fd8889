from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles import write_model

from prorl_common import NullProgress, UserError
from prorl_common.config import ConfigError
from prorl_inference import quiet_transformers
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config, load_saved_config, save_config
from prorl_training.engine import start
from prorl_training.engine.builder import Builder
from prorl_training.engine.local import LocalEngine, TrainReport
from prorl_training.engine.openrlhf.launch import session
from prorl_training.engine.openrlhf.launch.arguments import argument_list, dry_run_places
from prorl_training.engine.openrlhf.launch.understood import unsupported
from prorl_training.engine.start import Start
from prorl_training.run.checkpoint import checkpoint_path, checkpoint_steps, read_state, seal
from prorl_training.run.folder import ResumeError, RunFolder
from prorl_training.run.lineage import first_legs, lines, place, read_lineage, write_lineage
from prorl_training.run.resume import resume_config
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.decisions import lanes_text, stage_lines
from prorl_training.schedule.simulate import simulate

STEPS, FIRST_OF_V2 = 13, 11
"""Eight phases of ``prorl-v1`` in ten steps, run-6 from step 6 to 8; then ``prorl-v2``."""

MINIATURE = """
preset: prorl-3k
steps: 13
model: {path: MODEL, device: cpu, dtype: fp32, gradient_checkpointing: false}
data: {path: DATA, domain_weights: {math: 1}}
rollout: {prompts: 4, samples: 4, temperature: 1.0, max_tokens: 12}
loss: {mini_batches: 2, pack_tokens: 512}
optimizer: {lr: 1.0e-3}
validation: {every: 5, problems: 4}
checkpoint: {every: 3, keep: 2, best: false}
warm_start: {examples: 64, epochs: 12, lr: 5.0e-3, batch: 20}
kl: {measure_share_every: 0}
logging: {tensorboard: false}
"""
SETTINGS = [
    *(f"phases.run-{n}.steps={3 if n == 6 else 1}" for n in range(1, 9)),
    *(f"phases.run-{n}.set.data.domain_weights={{math: 1}}" for n in (1, 2)),
    *(f"phases.run-{n}.set.rollout.samples=6" for n in (6, 7)),
    "phases.run-8.set.rollout.max_tokens=16",
    "stages.prorl-v2.set.data.domain_weights={math: 1}",
]


def miniature(folder: Path, *more: str) -> TrainConfig:
    file = folder / "miniature.yaml"
    text = MINIATURE.replace("MODEL", str(folder / "model")).replace("DATA", str(folder / "data"))
    file.write_text(text)
    return load_config(None, file, [*SETTINGS, *more])


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny model and a file in place of the dataset."""
    folder = tmp_path_factory.mktemp("stages")
    with quiet_transformers():
        write_model(folder / "model", seed=0, hidden=32)
    (folder / "data").write_text("digits")
    return folder


def test_each_stage_is_its_preset_to_the_last_setting() -> None:
    whole, v1, v2 = (load_config(name) for name in ("prorl-3k", "prorl-v1", "prorl-v2"))
    assert [phase.stage for phase in whole.phases] == ["prorl-v1"] * 8 + ["prorl-v2"]
    own = {"preset", "steps"}
    for number in range(8):
        assert whole.in_phase(number).model_dump(exclude=own) == v1.in_phase(number).model_dump(
            exclude=own
        )
    assert whole.in_phase(8).model_dump(exclude=own) == v2.model_dump(exclude=own)
    assert sum(phase.steps for phase in whole.phases) == whole.steps == 3000
    assert stage_lines(whole) == [
        "prorl-v1 (run-1 to run-8): up to 2000 steps, engine local",
        "prorl-v2: to the end, engine local",
    ]


def test_what_is_set_holds_in_every_stage_and_a_stages_own_setting_in_it_alone() -> None:
    config = load_config(
        "prorl-3k", None, ["loss.clip_high=0.3", "stages.prorl-v2.set.rollout.samples=8"]
    )
    assert [config.in_phase(n).loss.clip_high for n in (0, 8)] == [0.3, 0.3]
    assert [config.in_phase(n).rollout.samples for n in (0, 8)] == [16, 8]


def test_a_resolved_config_reads_back_equal_also_as_a_file_of_settings(tmp_path: Path) -> None:
    config = load_config("prorl-3k", None, ["stages.prorl-v2.engine=openrlhf"])
    save_config(config, tmp_path / "config.yaml")
    assert load_saved_config(tmp_path / "config.yaml") == config
    assert load_config(None, tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("stages", "complaint"),
    [
        ("[{preset: prorl-v9}]", "unknown preset 'prorl-v9'"),
        ("[{preset: prorl-v2}, {preset: prorl-v2}]", "stage prorl-v2 has no length: set its steps"),
        ("[{preset: prorl-v1, steps: 9}]", "prorl-v1 has phases, so steps cannot be set"),
        ("[{preset: prorl-v1, phases: {run-9: {steps: 1}}}]", "prorl-v1 has no phase run-9"),
        ("[{preset: prorl-3k}]", "has stages itself"),
        ("[{preset: prorl-v2, stepps: 9}]", "unknown setting 'stages.0.stepps'"),
        ("[{preset: prorl-v2, steps: 9}, {preset: cpu}]", "stage cpu differs from the first stage"),
        ("[{preset: prorl-v2, steps: 1}, {preset: prorl-v2}]", "two stages have the same name"),
    ],
)
def test_a_wrong_stage_is_one_line_that_says_what(stages: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as caught:
        load_config("prorl-v2", None, [f"stages={stages}"])
    assert "\n" not in str(caught.value)


def test_phases_of_two_stages_with_one_name_are_called_after_their_stage() -> None:
    stages = "[{preset: prorl-v1, name: a}, {preset: prorl-v1, name: b}]"
    config = load_config("prorl-v1", None, [f"stages={stages}", "phases.b-run-2.steps=7"])
    assert [phase.name for phase in config.phases[:9:8]] == ["a-run-1", "b-run-1"]
    assert config.phases[9].steps == 7


def test_a_wrong_setting_of_a_stage_is_named_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"stages\.1\.set\.loss\.clip_low"):
        load_config("prorl-3k", None, ["stages.prorl-v2.set.loss.clip_low=9"])
    with pytest.raises(ConfigError, match=r"stages\.1\.set\.validation cannot change during a run"):
        load_config("prorl-3k", None, ["stages.prorl-v2.set.validation.every=9"])


def test_a_stage_begins_with_a_reset_and_a_new_optimiser_and_counts_windows_from_its_first_step() -> (
    None
):
    decided = simulate(load_config("prorl-3k"), 3000)
    (began,) = (d for d in decided if d.kind == "reference_reset" and d.step == 2001)
    assert began.evidence["rule"] == "stage" and began.evidence["optimizer"] == "clear"
    (entered,) = (d for d in decided if d.kind == "phase_started" and d.step == 2001)
    assert (entered.evidence["stage"], entered.evidence["preset"]) == ("prorl-v2", "prorl-v2")
    windows = [d.step for d in decided if d.kind == "penalty_window_opened"]
    assert windows == [2401]
    later = [d.step for d in decided if d.kind == "reference_reset" and d.step > 2001]
    assert later == [2300, 2600, 2900]
    lane = next(line for line in lanes_text(decided, 3000, 30) if line.startswith("stage"))
    assert lane.split() == ["stage", "1" * 20 + "2" * 10]


def test_a_stage_whose_last_phase_stalls_is_over_early() -> None:
    stages = "[{preset: prorl-v1, phases: {run-8: {until: stall}}}, {preset: prorl-v2}]"
    controller = Controller(load_config("prorl-v1", None, [f"stages={stages}"]))
    controller.state.phase, controller.state.phase_announced = 7, True
    controller.state.phase_start = 2251
    assert not controller.begins_stage(2300)
    controller.state.phase_ended_by = {"rule": "stalled_validation"}
    assert controller.begins_stage(2300)
    assert [d.kind for d in controller.begin_step(2300)] == ["phase_started", "reference_reset"]
    assert controller.end_step(2300, Measured(None)) == []


class Snapshot:
    """Copy a run's folder, as a kill would leave it, once its metrics have the given number of lines."""

    def __init__(self, run: Path, lines: int) -> None:
        self.run, self.lines, self.copy = run, lines, run.parent / f"killed-{lines}"

    def __call__(self) -> None:
        metrics = self.run / "metrics.jsonl"
        done = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
        if done == self.lines and not self.copy.exists():
            shutil.copytree(self.run, self.copy)


def go_on(config: TrainConfig, run: Path, task: Any, *beats: Callable[[], None]) -> Path:
    """Start or resume the run to its end: one loop per stage, as in ``Start.train``."""
    samples, scorer = task
    folder, last = RunFolder(run), 0
    while last < config.steps:
        engine = LocalEngine(config, folder, samples, scorer, NullProgress())

        def beat() -> None:
            for each in beats:
                each()

        builder = Builder(engine, config, folder, samples, NullProgress(), beat)
        last = builder.build(folder.config_path.exists(), ()).run()
        if beats and last < config.steps:
            shutil.copytree(run, run.parent / "between")
    return run


def contents(run: Path) -> dict[str, bytes]:
    root = checkpoint_path(RunFolder(run).checkpoints, STEPS)
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def whole(parts: Path, digit_task: Any) -> Path:
    """The uninterrupted run, with copies of its folder after steps 8, 10 (before its checkpoint), 12, and stages."""
    run = parts / "whole"
    return go_on(miniature(parts), run, digit_task, *(Snapshot(run, n) for n in (8, 10, 12)))


@pytest.mark.parametrize(
    ("copy", "newest"), [("killed-8", 6), ("killed-10", 9), ("between", 10), ("killed-12", 10)]
)
def test_killed_in_run_6_after_its_reset_between_stages_or_in_the_second_it_ends_bit_for_bit_the_same(
    parts: Path, whole: Path, digit_task: Any, copy: str, newest: int
) -> None:
    killed = parts / f"{copy}-again"
    shutil.copytree(parts / copy, killed)
    assert checkpoint_steps(RunFolder(killed).checkpoints)[-1] == newest
    go_on(RunFolder(killed).config(), killed, digit_task)
    assert contents(killed) == contents(whole)
    assert RunFolder(killed).decisions() == RunFolder(whole).decisions()
    resets = [d["step"] for d in RunFolder(whole).decisions() if d["kind"] == "reference_reset"]
    assert resets == [2, 6, 9, FIRST_OF_V2]


def test_every_checkpoint_says_where_its_weights_came_from_and_a_stages_first_one_stays(
    whole: Path,
) -> None:
    store = RunFolder(whole).checkpoints
    assert {0, FIRST_OF_V2 - 1, STEPS} <= set(checkpoint_steps(store))
    legs = {step: read_state(checkpoint_path(store, step))["lineage"] for step in (0, 10, STEPS)}
    assert legs[0] == legs[10] == legs[STEPS][:1]
    first, second = legs[STEPS]
    assert (first["preset"], first["engine"], first["after_step"]) == ("prorl-v1", "local", 0)
    assert (second["preset"], second["source"], second["after_step"]) == (
        "prorl-v2",
        "step_000010",
        10,
    )
    assert first["weights"] != second["weights"] and len(second["weights"]) == 64
    assert lines(legs[STEPS])[1].startswith("from step 11: preset prorl-v2, engine local, from ste")


def test_a_stage_needs_no_more_than_the_weights_of_a_checkpoint_that_another_engine_wrote(
    parts: Path, whole: Path, digit_task: Any
) -> None:
    run = parts / "from-elsewhere"
    shutil.copytree(parts / "between", run)
    folder = RunFolder(run)
    checkpoint, phase, begins = place(folder, folder.config())
    assert checkpoint is not None and (checkpoint.name, phase, begins) == ("step_000010", 8, True)
    for name in ("optimizer.safetensors", "reference.safetensors", "manifest.json"):
        (checkpoint / name).unlink(missing_ok=True)
    state = read_state(checkpoint) | {"reference": "own", "checksums": {"policy": {}}}
    state["environment"] = {"openrlhf": "0.11.2", "ranks": 8}
    (checkpoint / "state.json").write_text(json.dumps(state))
    seal(checkpoint)
    go_on(folder.config(), run, digit_task)
    same = {"policy/model.safetensors", "optimizer.safetensors", "reference.safetensors"}
    one, other = contents(run), contents(whole)
    assert {name for name in one if one[name] == other[name]} >= same
    kinds = [d["kind"] for d in folder.decisions()]
    assert "checkpoint_fallback" not in kinds
    changed = folder.decisions()[kinds.index("config_changed")]
    assert changed["reason"].endswith("the weights are the same")


def test_each_stage_is_trained_by_its_engine_from_the_checkpoint_before_it(
    parts: Path, whole: Path, tmp_path: Path
) -> None:
    del whole  # it made the copies
    config = miniature(parts, "stages.prorl-v2.engine=openrlhf")
    called: list[tuple[str, bool, int]] = []

    def trainer_of(engine: str) -> Callable[..., TrainReport]:
        def train(config: TrainConfig, run: Path, *rest: Any) -> TrainReport:
            resume = rest[1]
            called.append((engine, resume, place(RunFolder(run), config)[1]))
            if not resume:
                shutil.copytree(parts / "between", run)
                save_config(config, run / "config.yaml")
            return TrainReport(run, STEPS if resume else 10, STEPS, False)

        return train

    report = Start(config, RunFolder(tmp_path / "run")).train(NullProgress(), trainers=trainer_of)
    assert report.last_step == STEPS
    assert called == [("local", False, 0), ("openrlhf", True, 8)]


def test_openrlhf_is_started_with_the_optimiser_of_the_stage_that_begins() -> None:
    config = load_config("prorl-3k", None, ["engine=openrlhf"])
    assert unsupported(config) == []
    words = [argument_list(config, dry_run_places(config, "one"), phase) for phase in (7, 8)]
    at = words[0].index("--actor.adam.betas")
    assert [w[at + 1 : at + 3] for w in words] == [["0.9", "0.999"], ["0.9", "0.95"]]


def test_only_the_stages_of_openrlhf_must_suit_it() -> None:
    lost = "rollout.top_p=0.9"  # vLLM would have no log-probs for it
    config = load_config(
        "prorl-3k", None, [f"stages.prorl-v1.set.{lost}", "stages.prorl-v2.engine=openrlhf"]
    )
    assert unsupported(config) == []
    warm = ["warm_start.examples=9", "stages.prorl-v2.engine=openrlhf"]
    assert unsupported(load_config("prorl-3k", None, warm)) == []  # the first stage has it
    both = load_config("prorl-3k", None, [lost, "stages.prorl-v2.engine=openrlhf"])
    (line,) = unsupported(both)
    assert line.startswith("phase prorl-v2: rollout.top_p=0.9")


def test_a_run_may_go_on_with_another_engine_where_a_stage_has_not_begun(
    parts: Path, whole: Path
) -> None:
    folder = RunFolder(parts / "killed-8")
    config, (changed,) = resume_config(folder, ["engine=openrlhf"], None)
    assert [config.in_phase(n).engine for n in (7, 8)] == ["local", "openrlhf"]
    assert changed.reason == "stages.prorl-v2.engine none -> openrlhf"
    with pytest.raises(
        ResumeError, match="in its last stage, and a stage cannot change its engine"
    ):
        resume_config(RunFolder(whole), ["engine=openrlhf"], None)
    with pytest.raises(ResumeError, match="was not started with"):
        resume_config(folder, ["stages=[]", "phases=[]"], None)


def test_a_model_that_was_exported_from_a_run_brings_the_runs_legs_with_it(
    whole: Path, tmp_path: Path
) -> None:
    state = read_state(checkpoint_path(RunFolder(whole).checkpoints, STEPS))
    write_lineage(tmp_path, "whole", state)
    config = load_config("brorl", None, [f"model.path={tmp_path}", "engine=openrlhf"])
    legs = first_legs(config, {"model": "ab" * 32, "came_from": read_lineage(tmp_path)})
    assert [leg.get("run") for leg in legs] == ["whole", "whole", None]
    assert [leg["preset"] for leg in legs] == ["prorl-v1", "prorl-v2", "brorl"]
    assert legs[2]["source"] == "whole after step 13" and legs[2]["engine"] == "openrlhf"
    assert first_legs(config, None)[0]["source"] == str(tmp_path)


def test_a_later_stage_that_this_machine_cannot_train_is_refused_before_the_first_begins(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise UserError("no stack")

    monkeypatch.setattr(session, "require_stack", missing)
    monkeypatch.setattr(start, "check_start", lambda config, run: parts / "data")
    run = RunFolder(tmp_path / "run")
    assert Start(miniature(parts), run).check() == parts / "data"
    with pytest.raises(UserError, match="no stack"):
        Start(miniature(parts, "stages.prorl-v2.engine=openrlhf"), run).check()
