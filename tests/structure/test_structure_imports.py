"""The house as its imports have it: arrows between rooms point one way, and no file imports in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAY_IMPORT: dict[str, set[str]] = {
    "prorl_common": set(),
    "prorl_sandbox": set(),
    "prorl_verifiers": {"prorl_sandbox"},
    "prorl_datasets": {"prorl_verifiers", "prorl_sandbox"},
    "prorl_inference": set(),
    "prorl_training": {"prorl_inference", "prorl_datasets", "prorl_verifiers"},
    "prorl_evaluation": {"prorl_inference", "prorl_datasets", "prorl_verifiers"},
    "prorl_viewer": {
        "prorl_training",
        "prorl_evaluation",
        "prorl_datasets",
        "prorl_inference",
        "prorl_verifiers",
    },
}
"""docs/architecture.md draws this; all may import prorl_common, and prorl and prorl_cli everything."""

DRAWING = {
    "prorl_common.svg",
    "prorl_datasets.card.plots",
    "prorl_evaluation.report.figures",
    "prorl_evaluation.report.html",
    "prorl_training.schedule.timeline_picture",
}
MAY_DRAW = {"prorl_datasets.card.card", "prorl_evaluation"}
"""The card's writer draws its plots; the package offers ``write_report``."""


def modules() -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    found = {}
    for package in (*MAY_IMPORT, "prorl", "prorl_cli"):
        (folder,) = [p for p in (ROOT / package, *ROOT.glob(f"*/{package}")) if p.is_dir()]
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(file: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file imports, inside functions and for types alike."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in known or node.module in known:
                    yield whole if whole in known else node.module


def test_rooms_import_only_what_the_map_allows() -> None:
    known = modules()
    wrong = [
        f"{name} imports {target}"
        for name, file in known.items()
        for target in imports(file, known)
        if (room := name.split(".")[0]) in MAY_IMPORT
        and target.split(".")[0] not in {room, "prorl_common", *MAY_IMPORT[room]}
    ]
    assert wrong == []


def test_no_file_imports_in_a_circle() -> None:
    known = modules()
    graph = {name: set(imports(file, known)) - {name} for name, file in known.items()}
    done: set[str] = set()

    def circle(name: str, path: tuple[str, ...]) -> tuple[str, ...] | None:
        if name in path:
            return (*path[path.index(name) :], name)
        if name in done:
            return None
        for target in sorted(graph[name]):
            if found := circle(target, (*path, name)):
                return found
        done.add(name)
        return None

    first = next((found for name in sorted(graph) if (found := circle(name, ()))), None)
    assert first is None


def test_what_computes_imports_nothing_that_draws() -> None:
    known = modules()
    assert {*DRAWING} <= {*known}
    wrong = [
        f"{name} imports {target}"
        for name, file in known.items()
        for target in imports(file, known)
        if target in DRAWING
        and name not in DRAWING | MAY_DRAW
        and not name.startswith("prorl_cli.")
    ]
    assert wrong == []
