from __future__ import annotations

import email
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "prorl", "prorl_cli", "prorl_common", "prorl_sandbox", "prorl_verifiers", "prorl_datasets",
    "prorl_inference", "prorl_training", "prorl_evaluation", "prorl_viewer",
)  # fmt: skip


def test_wheel_holds_all_packages_and_imports_from_it(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    unpacked = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    folders = {p.name for p in unpacked.iterdir() if not p.name.endswith(".dist-info")}
    assert folders == set(PACKAGES)
    assert list((unpacked / "prorl_datasets" / "recipes").glob("quickstart.yaml"))
    assert list((unpacked / "prorl_training" / "presets").glob("cpu.yaml"))
    page = unpacked / "prorl_viewer" / "page"
    assert {p.name for p in page.iterdir()} >= {"index.html", "main.js", "style.css", "views"}
    assert (page / "vendor" / "LICENSE-preact").is_file()
    suites = unpacked / "prorl_evaluation" / "suites"
    assert (suites / "published.yaml").is_file()
    assert len(list((suites / "definitions").glob("*.yaml"))) == 3
    script = (
        f"import sys; sys.path.insert(0, {str(unpacked)!r})\n"
        f"for name in {PACKAGES!r}:\n"
        f"    assert __import__(name).__file__.startswith({str(unpacked)!r}), name\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    (information,) = unpacked.glob("*.dist-info/METADATA")
    metadata = email.message_from_string(information.read_text())
    assert (
        metadata["Author"] == "The prorl authors" and metadata["License-Expression"] == "Apache-2.0"
    )
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    text = str(metadata.get_payload())
    assert "Train my model on my data" in text
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []


def test_relative_links_of_the_readme_become_absolute_once_there_is_an_address() -> None:
    sys.path.insert(0, str(ROOT))
    from hatch_build import LongDescription

    metadata: dict[str, Any] = {"version": "1.2", "urls": {"Source": "https://host.example/prorl"}}
    LongDescription(str(ROOT), {}).update(metadata)
    text = metadata["readme"]["text"]
    assert "](https://host.example/prorl/blob/v1.2/docs/guides/viewing.md)" in text
    assert "](https://host.example/prorl/raw/v1.2/docs/images/quickstart.svg)" in text
    assert "](docs/" not in text


def test_the_citation_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert citation["version"] == project["version"] and citation["license"] == project["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in project["authors"]
    ]


def test_no_folder_shadows_a_package_of_the_index() -> None:
    for folder in ("datasets", "verifiers", "sandbox", "inference", "training", "evaluation"):
        assert not (ROOT / folder / "__init__.py").exists()
        assert not (ROOT / "tests" / folder / "__init__.py").exists()
