from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github").rglob("*.yml"))
TEXTS = [ROOT / "CONTRIBUTING.md", ROOT / ".ci" / "run", *(ROOT / ".github").rglob("*.*")]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_make_target_that_is_named_exists(file: Path) -> None:
    called = re.findall(r"(?:^|[`$\- ])make ([a-z-]+)", file.read_text("utf-8"), re.MULTILINE)
    assert set(called) <= targets()


@pytest.mark.parametrize(
    "file", [*WORKFLOWS, ROOT / ".pre-commit-config.yaml"], ids=lambda file: file.name
)
def test_yaml_of_the_hosting_service_is_a_mapping(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text("utf-8")), dict)


def test_workflows_call_every_target_that_ci_runs() -> None:
    program = (ROOT / ".ci" / "run").read_text("utf-8")
    ci = set(re.findall(r"^(?:stage|beside) make (.+)$", program, re.MULTILINE))
    ci.remove("openrlhf-cpu-venv")  # what integration-openrlhf needs
    assert {"test", "integration"} <= ci
    hosted: set[str] = set()
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values():
            hosted |= {line.removeprefix("make ") for line in job["strategy"]["matrix"]["command"]}
    assert ci <= hosted


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").split()) < 650
