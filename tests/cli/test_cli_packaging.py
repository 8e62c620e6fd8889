"""What is built is what is imported: nine packages, their data files, and no shadowed names."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "prorl",
    "prorl_cli",
    "prorl_common",
    "prorl_sandbox",
    "prorl_verifiers",
    "prorl_datasets",
    "prorl_inference",
    "prorl_training",
    "prorl_evaluation",
    "prorl_viewer",
)


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
    templates = unpacked / "prorl_evaluation" / "report" / "templates"
    assert {p.name for p in templates.iterdir()} >= {"page.html.j2", "style.css"}
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


def test_no_folder_shadows_a_package_of_the_index() -> None:
    for folder in ("datasets", "verifiers", "sandbox", "inference", "training", "evaluation"):
        assert not (ROOT / folder / "__init__.py").exists()
        assert not (ROOT / "tests" / folder / "__init__.py").exists()
