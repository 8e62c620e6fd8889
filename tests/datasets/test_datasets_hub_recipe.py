"""The whole recipe prorl-136k from a fake hub: candidates, faults, failing sources and kills."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from doubles import Messages
from hub_faults import Status
from hub_server import TOKEN, FakeHub
from hub_sets import put_benchmarks, put_training_sets
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common.http import RetryPolicy
from prorl_datasets import BuildOptions, DatasetError, Recipe, load
from prorl_datasets.building.builder import build_with
from prorl_datasets.hub import hub as hub_files
from prorl_datasets.recipe.parts import Decontamination
from prorl_datasets.recipe.recipe import parse_recipe

RECIPE = Path(hub_files.__file__).parents[1] / "recipes" / "prorl-136k.yaml"
SCP = "EricLu/SCP-116K"


def scaled(by: int, logic: bool) -> dict[str, Any]:
    """Return the packaged recipe with its counts divided by `by`."""
    recipe: dict[str, Any] = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    for part in (*recipe["entries"], *recipe["groups"]):
        part["count"] = {split: max(1, count // by) for split, count in part["count"].items()}
    if not logic:
        recipe["groups"], recipe["decontamination"] = [], {"benchmarks": []}
    return recipe


@pytest.fixture
def small(hub: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recipe:
    """The recipe's published sources at 1:1000 on the hub, with retry waits of hundredths of a second."""
    monkeypatch.setattr(hub_files, "POLICY", RetryPolicy(first=0.01, longest=0.05, tries=6))
    put_training_sets(hub, 0.002)
    put_benchmarks(hub)
    return parse_recipe(yaml.safe_dump(scaled(1000, logic=False)), "test recipe", tmp_path)


Build = Callable[..., Any]


@pytest.fixture
def build_small(small: Recipe, accepting: Any, tmp_path: Path) -> Build:
    def run(
        out: str = "d", benchmarks: tuple[str, ...] = (), **options: Any
    ) -> tuple[Any, list[str]]:
        progress = Messages()
        checked = Decontamination(benchmarks=list(benchmarks))
        recipe = small.model_copy(update={"decontamination": checked})
        report = build_with(
            accepting, recipe, tmp_path / out, progress=progress, options=BuildOptions(**options)
        )
        return report, progress.lines

    return run


def test_the_published_sources_build_and_say_what_they_took(
    build_small: Build, hub: FakeHub, tmp_path: Path
) -> None:
    report, said = build_small(benchmarks=("math_500", "gpqa_diamond"))
    counts = report.manifest["counts"]
    assert counts["train"] == {"code": 24, "instruction": 10, "math": 40, "stem": 25}
    assert report.failed == {} and report.short == {}
    told = [line for line in said if line.startswith("stem-scp116k")]
    commit = hub.repos[SCP].at("main") or ""
    assert told == [
        f"stem-scp116k: takes SCP_116K_in_open_source_format.jsonl of {SCP} at {commit[:8]} (1 file, 0.0 MB, licence CC-BY-NC-SA-4.0)"
    ]
    taken = {e["name"]: e["taken"] for e in report.manifest["entries"]}
    assert taken["stem-scp116k"]["candidates"] == ["SCP_116K_in_open_source_format.jsonl"]
    assert taken["stem-scp116k"]["revision"] == hub.repos[SCP].at("main")
    assert taken["code-eurus"]["files"] == ["train.parquet"]
    lock = json.loads((tmp_path / "prorl-136k.lock.json").read_text())
    assert lock[SCP]["revision"] == hub.repos[SCP].at("main")
    assert "gpqa_diamond" in report.manifest["decontamination"]["not_checked"]
    assert all(s.task.reference["tests"] for s in load(report.path) if s.domain == "code")


def test_without_its_json_lines_a_source_takes_the_converted_branch(
    build_small: Build, hub: FakeHub, tmp_path: Path
) -> None:
    hub.put(SCP, {"README.md": b"moved"})
    report, _ = build_small()
    [stem] = [e for e in report.manifest["entries"] if e["domain"] == "stem"]
    branch = "refs/convert/parquet"
    assert stem["taken"]["candidates"] == [f"{branch}:default/*train/*.parquet"]
    assert stem["taken"]["files"] == ["default/train/0000.parquet"]
    lock = json.loads((tmp_path / "prorl-136k.lock.json").read_text())
    assert lock[f"{SCP}@{branch}"]["revision"] == hub.repos[SCP].at(branch)


def test_a_rough_hub_gives_the_same_bytes(build_small: Build, hub: FakeHub, tmp_path: Path) -> None:
    calm, _ = build_small()
    shutil.rmtree(tmp_path / "hf")
    (tmp_path / "prorl-136k.lock.json").unlink()
    hub.plan.rate, hub.plan.chance = 0.25, random.Random(5)
    rough, _ = build_small("rough")
    assert contents(calm.path) == contents(rough.path)


def test_one_failing_source_leaves_the_others_built_and_a_rerun_goes_on(
    build_small: Build, hub: FakeHub, tmp_path: Path
) -> None:
    whole, _ = build_small("whole")
    shutil.rmtree(tmp_path / "hf")
    (tmp_path / "prorl-136k.lock.json").unlink()
    hub.plan.by_path["/EricLu/"] = [Status(503)] * 6
    partial, said = build_small()
    assert list(partial.failed) == partial.manifest["failed"] == ["stem-scp116k"]
    assert any(line.startswith("FAILED stem-scp116k: EricLu/SCP-116K: the hub at") for line in said)
    assert sorted(partial.manifest["counts"]["train"]) == ["code", "instruction", "math"]
    hub.seen.clear()
    again, said = build_small()
    assert not again.failed and not again.reused
    assert any(line.startswith("continuing an earlier build") for line in said)
    assert not [s for s in hub.seen if "train.parquet" in s.path]
    assert contents(again.path) == contents(whole.path)
    assert build_small()[0].reused


def test_a_source_of_another_schema_fails_alone(build_small: Build, hub: FakeHub) -> None:
    hub.put(SCP, {"SCP_116K_in_open_source_format.jsonl": b'{"question": "?"}\n' * 9})
    report, _ = build_small()
    assert list(report.failed) == ["stem-scp116k"]
    assert "no column 'problem'" in report.failed["stem-scp116k"]
    assert report.manifest["counts"]["train"]["code"] == 24


def test_when_every_source_fails_all_are_named(build_small: Build, hub: FakeHub) -> None:
    hub.repos = dict.fromkeys(hub.repos, next(iter(hub.repos.values())))
    for repo in hub.repos.values():
        repo.gated = True
    with pytest.raises(DatasetError) as caught:
        build_small()
    assert len(str(caught.value).splitlines()) == 4


def test_entries_are_picked_by_name_and_pattern_and_parts_are_kept_for_the_rest(
    build_small: Build, hub: FakeHub
) -> None:
    report, _ = build_small(only=("math*", "code-eurus"), skip=("code",))
    assert report.manifest["counts"]["train"] == {"math": 40}
    assert report.manifest["skipped"] == ["code-eurus", "stem-scp116k", "instruction-nemotron"]
    assert not [s for s in hub.seen if "Eurus" in s.path and "resolve" in s.path]
    assert build_small(only=("math",))[0].reused
    again, said = build_small()
    assert not again.manifest["skipped"]
    assert any(line.startswith("continuing an earlier build") for line in said)
    with pytest.raises(DatasetError, match="no entry 'maths'; it has math-deepscaler"):
        build_small(only=("maths",))


def test_a_branch_that_moved_is_read_as_it_was_locked(build_small: Build, hub: FakeHub) -> None:
    first, _ = build_small()
    hub.put(SCP, {"SCP_116K_in_open_source_format.jsonl": b"{}\n"})
    again, _ = build_small("other")
    assert contents(first.path) == contents(again.path)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of each file of a dataset."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_command_exits_with_1_and_lists_what_failed(
    hub: FakeHub, small: Recipe, tmp_path: Path
) -> None:
    hub.repos[SCP].gated = True
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(scaled(4000, logic=False)))
    words = ["data", "build", "--recipe", str(tmp_path / "r.yaml"), "--out", str(tmp_path / "d")]
    result = CliRunner().invoke(build_app(), [*words, "--only", "math", "--only", "stem"])
    assert result.exit_code == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.endswith("; WITHOUT stem-scp116k: the same command continues with them")
    assert (
        "stem-scp116k is missing: EricLu/SCP-116K: this repository is gated: acc" in result.stderr
    )
    assert json.loads((tmp_path / "d" / "manifest.json").read_text())["counts"]["train"] == {
        "math": 10
    }


@pytest.mark.parametrize(
    ("part", "kills", "rows"),
    [
        pytest.param(400, 3, (97, 60, 25, 92, 62), marks=pytest.mark.slow),
        pytest.param(100, 10, (393, 240, 100, 370, 250), marks=pytest.mark.nightly),
    ],
)
def test_a_part_of_prorl_136k_whose_build_is_killed_has_the_bytes_of_an_undisturbed_build(
    hub: FakeHub, tmp_path: Path, part: int, kills: int, rows: tuple[int, ...]
) -> None:
    put_training_sets(hub, 1 / part)
    put_benchmarks(hub)
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(scaled(part, logic=True)))

    def command(out: str) -> subprocess.Popen[bytes]:
        words = [
            "data",
            "build",
            "--recipe",
            str(tmp_path / "r.yaml"),
            "--out",
            str(tmp_path / out / "d"),
        ]
        (tmp_path / out).mkdir(exist_ok=True)
        home = {**os.environ, "HF_HOME": str(tmp_path / out / "hf"), "HF_TOKEN": TOKEN}
        log = (tmp_path / out / "log").open("ab")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", "prorl_cli", *words, "--workers", "2"],
                stdout=log, stderr=log, env=home, start_new_session=True,
            )  # fmt: skip

    calm = command("calm")
    assert calm.wait(900) == 0, (tmp_path / "calm" / "log").read_text()[-3000:]
    hub.plan.rate, hub.plan.chance = 0.1, random.Random(3)
    chance = random.Random(11)
    pieces = tmp_path / "killed" / ".d.build"
    for kill in range(kills):
        process = command("killed")
        # two kills while files are fetched, the others after some of about 320 pieces
        enough = len(list(pieces.rglob("*"))) + chance.randrange(300 // kills)
        deadline = time.monotonic() + (chance.random() * 6 if kill < 2 else 300)
        while process.poll() is None and time.monotonic() < deadline:
            if kill >= 2 and len(list(pieces.rglob("*"))) > enough:
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
    last = command("killed")
    assert last.wait(900) == 0, (tmp_path / "killed" / "log").read_text()[-3000:]
    assert contents(tmp_path / "calm" / "d") == contents(tmp_path / "killed" / "d")
    manifest = json.loads((tmp_path / "killed" / "d" / "manifest.json").read_text())
    domains = ("math", "code", "instruction", "logic", "stem")
    assert tuple(manifest["counts"]["train"][domain] for domain in domains) == rows
