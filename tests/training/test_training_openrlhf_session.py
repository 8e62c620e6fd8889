from __future__ import annotations

import errno
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from prorl_common import NullProgress, PluginError, Progress, UserError, plugins
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf import events
from prorl_training.engine.openrlhf.launch import session
from prorl_training.engine.openrlhf.launch.process import ray_options
from prorl_training.engine.openrlhf.launch.session import pending_changes, refuse_model_code
from prorl_training.engine.openrlhf.spec import PENDING, VARIABLE, Spec
from prorl_training.run.folder import RunFolder
from prorl_training.types import Decision


def model(folder: Path, **files: object) -> Path:
    for name, content in ({"config": {"model_type": "llama"}} | files).items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_a_model_with_code_of_its_own_is_refused_wherever_it_names_it(tmp_path: Path) -> None:
    refuse_model_code(model(tmp_path, tokenizer_config={"eos_token": "</s>"}, vocab=["a"]))
    model(tmp_path, tokenizer_config={"auto_map": {"AutoTokenizer": ["x.Own", None]}})
    with pytest.raises(UserError, match=r"own Python code \(auto_map in tokenizer_config.json\)"):
        refuse_model_code(tmp_path)


def test_a_model_that_sees_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="use a text model"):
        refuse_model_code(model(tmp_path, config={"vision_config": {}}))


def test_a_change_of_config_waits_until_a_launch_has_recorded_it(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    config = load_config("prorl-v2")
    folder.create(config, {})
    launch = folder.path / "openrlhf"
    launch.mkdir()
    assert pending_changes(folder, config, launch, []) == ()
    longer = config.model_copy(update={"steps": 9000})
    change = Decision(5, "config_changed", "steps 3000 -> 9000", {})
    (asked,) = pending_changes(folder, longer, launch, [change])
    assert asked["reason"] == "steps 3000 -> 9000"
    assert folder.config().steps == 9000
    again = pending_changes(
        folder, longer, launch, []
    )  # that launch died before it recorded anything
    assert again == (asked,)
    both = pending_changes(folder, longer, launch, [replace(change, reason="another")])
    assert [d["reason"] for d in both] == ["steps 3000 -> 9000", "another"]
    (launch / PENDING).unlink()  # recorded
    assert pending_changes(folder, longer, launch, []) == ()


def test_actors_on_every_node_are_told_which_plug_ins_to_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    file = tmp_path / "mine.py"
    file.write_text("from prorl_training import KLSpec\nSPEC = KLSpec('mine', lambda d, c: d)\n")
    plugins.use_plugins([file])
    folder = RunFolder(tmp_path / "run")
    folder.create(load_config("prorl-v2"), {})
    spec = Spec(str(folder.path), False, "cpu", ())
    monkeypatch.setenv(VARIABLE, str(spec.write()))
    handed = ray_options(spec)["runtime_env"]["env_vars"]
    ((path, sha256),) = json.loads(handed[plugins.ENVIRONMENT])
    assert (path, sha256) == (str(file), hashlib.sha256(file.read_bytes()).hexdigest())


def test_a_plug_in_that_a_node_cannot_read_is_the_users_to_mend(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(load_config("prorl-v2"), {})
    spec = Spec(str(folder.path), False, "cpu", ())
    spec.folder.mkdir(parents=True)
    events.report_failure(spec, "the policy", PluginError("plug-in /x.py cannot be read"))
    outcome = events.read_outcome(spec)
    assert outcome is not None
    assert (outcome.fault, outcome.error) == (
        "user",
        "the policy could not start: plug-in /x.py cannot be read",
    )


TAKEN = RuntimeError(
    "The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, "
    "code: -98, name: EADDRINUSE, message: address already in use"
)


@pytest.mark.parametrize(
    ("errors", "starts", "says"),
    [
        ([TAKEN, None], 2, "nothing"),
        ([OSError(errno.EADDRINUSE, "Address already in use"), TAKEN, None], 3, "nothing"),
        ([TAKEN, TAKEN, TAKEN, None], 3, "EADDRINUSE"),
        ([RuntimeError("CUDA out of memory"), None], 1, "out of memory"),
    ],
)
def test_only_a_port_that_was_taken_makes_the_processes_start_again(
    errors: list[Exception | None],
    starts: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(load_config("prorl-v2"), {})
    launches: list[str] = []

    def follow(spec: Spec, run: RunFolder, progress: Progress) -> int:
        error = errors[len(launches)]
        launches.append(spec.launch)
        spec.write()
        if error is None:
            events.write_outcome(spec, events.Outcome(7))
            return 0
        events.report_failure(spec, "the policy", error)
        return 1

    monkeypatch.setattr(session, "_follow", follow)
    progress = NullProgress()
    code, outcome = session.run_processes(
        Spec(str(folder.path), False, "cpu", ()), folder, "", progress
    )
    assert len(launches) == len(set(launches)) == starts
    assert outcome is not None
    assert says in (outcome.error or "nothing")
    assert (code, outcome.last_step) == ((0, 7) if says == "nothing" else (1, 0))
