"""Measure the code and compare it with the limits in figures.json, which only go down.

    python tests/structure/figures.py [--all] [--list FIGURE] [--lower]

Prints each figure with its limit and its goal. ``--all`` also trains two steps to follow a prompt, ``--list`` names
what a figure counts, and ``--lower`` writes limits that the code has fallen below. Generated problem families
(``procedural/``) are counted apart from the other modules of the packages.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Path(__file__).with_name("figures.json")
COLLECTOR = "prorl_training.rollout.collector"
Graph = Mapping[str, set[str]]


@cache
def modules() -> Mapping[str, Path]:
    """Return every module of the packages by its dotted name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {}
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        folder = ROOT / package
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def tree_of(file: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imports() -> Graph:
    """Return the modules of ours that each module imports, inside functions and for types alike."""
    known = modules()
    return {name: set(_imported(tree_of(file), known)) - {name} for name, file in known.items()}


def _imported(tree: ast.Module, known: Collection[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in known or node.module in known:
                    yield whole if whole in known else node.module


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """Return the groups of nodes that reach each other."""
    reached = {name: _reachable(graph, name) for name in graph}
    return sorted(
        {
            tuple(sorted(other for other in reached[name] if name in reached[other]))
            for name in graph
            if name in reached[name]
        }
    )


def _reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    queue = list(graph[start])
    while queue:
        name = queue.pop()
        if name not in seen:
            seen.add(name)
            queue += graph[name]
    return seen


def import_circles() -> list[str]:
    """Return the groups of modules that import each other, directly or by way of others."""
    return [" ".join(group) for group in circles(imports())]


def backward_arrows() -> list[str]:
    """Return the arrows between folders of a room that must go before the folders have an import order.

    In each circle of folders it is the arrow of the fewest imports, with their number.
    """
    arrows: Counter[tuple[str, str]] = Counter()
    for name, targets in imports().items():
        for target in targets:
            here, there = _folder(name), _folder(target)
            inside = here and there and here.split(".")[0] == there.split(".")[0]
            if inside and here != there:
                arrows[here, there] += 1
    folders = {folder for arrow in arrows for folder in arrow}
    found: list[str] = []
    while True:
        graph = {folder: {b for a, b in arrows if a == folder} for folder in folders}
        groups = circles(graph)
        if not groups:
            return found
        circular = [arrow for arrow in arrows if any({*arrow} <= {*group} for group in groups)]
        weakest = min(circular, key=lambda arrow: (arrows[arrow], arrow))
        found.append(f"{weakest[0]} -> {weakest[1].split('.')[1]} ({arrows[weakest]})")
        del arrows[weakest]


def _folder(name: str) -> str:
    """Return room and folder of a module as a dotted name; nothing for a module that lies in the room itself."""
    folder = ".".join(name.split(".")[:2])
    return folder if "." in folder and modules()[folder].name == "__init__.py" else ""


def _in_packages(generators: bool) -> list[Path]:
    return [file for file in modules().values() if ("procedural" in file.parts) == generators]


def _below(*folders: str) -> list[Path]:
    return [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]


def _lines(files: Collection[Path]) -> int:
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def used_once() -> list[str]:
    """Return the private functions of modules, generators apart, that their module uses once."""
    return [place for place, uses in _private_functions().items() if uses <= 1]


@cache
def _private_functions() -> Mapping[str, int]:
    """Return how often each module-level private function is used in its module."""
    found = {}
    for file in _in_packages(generators=False):
        tree = tree_of(file)
        uses = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] == "_":
                found[f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"] = uses[node.name]
    return found


def share_used_once() -> int:
    """Return the share of private functions that are used once, in whole percent, rounded up."""
    return -(-100 * len(used_once()) // len(_private_functions()))


def imported_by_collector() -> list[str]:
    """Return the modules of ours that a fresh process has loaded once it imported the collector."""
    program = f"import sys, {COLLECTOR}; print(*sorted(n for n in sys.modules if n[:5] == 'prorl'))"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def parameters() -> list[str]:
    """Return the commands by the number of their parameters, the longest first."""
    from typer.main import get_command

    from prorl_cli.main import build_app

    counts = dict(_commands("prorl", get_command(build_app())))
    return [f"{counts[name]} {name}" for name in sorted(counts, key=counts.__getitem__)[::-1]]


def _commands(path: str, command: Any) -> Iterator[tuple[str, int]]:
    yield path, sum(parameter.name != "help" for parameter in command.params)
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands(f"{path} {name}", child)


def words_of_docs() -> int:
    """Return the words of all pages in docs/."""
    return sum(len(page.read_text(encoding="utf-8").split()) for page in ROOT.glob("docs/**/*.md"))


def words_of_docstrings() -> int:
    """Return the words of the docstrings of all modules, classes and functions of the packages."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return sum(
        len((ast.get_docstring(node, clean=False) or "").split())
        for file in modules().values()
        for node in ast.walk(tree_of(file))
        if isinstance(node, documented)
    )


def files_of_a_prompt() -> list[str]:
    """Return the files that a prompt passes in one training step (in a process of its own)."""
    program = ROOT / "tests" / "structure" / "prompt_path.py"
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{program.name} failed:\n{done.stderr}")
    return done.stdout.split()


FIGURES: dict[str, Callable[[], int | list[str]]] = {
    "lines of packages, generators apart": lambda: _lines(_in_packages(generators=False)),
    "modules, generators apart": lambda: len(_in_packages(generators=False)),
    "private functions used once, %": share_used_once,
    "modules loaded with the rollout collector": imported_by_collector,
    "longest parameter list of a command": lambda: int(parameters()[0].split()[0]),
    "import circles": import_circles,
    "arrows that run back between folders of a room": backward_arrows,
    "lines of generators": lambda: _lines(_in_packages(generators=True)),
    "lines of benchmarks and scripts": lambda: _lines(_below("benchmarks", "scripts")),
    "lines of tests": lambda: _lines(_below("tests")),
    "words of docs": words_of_docs,
    "words of docstrings": words_of_docstrings,
}
"""What is read or imported in a few seconds; a list is counted."""
SLOW: dict[str, Callable[[], int | list[str]]] = {
    "files a prompt passes in a step": files_of_a_prompt
}
"""What trains."""
LISTS: dict[str, Callable[[], list[str]]] = {
    "private functions used once, %": used_once,
    "longest parameter list of a command": parameters,
}
"""What ``--list`` shows for a figure that is not a list itself."""


def measure(name: str) -> int:
    """Return a figure's value now."""
    value = (FIGURES | SLOW)[name]()
    return value if isinstance(value, int) else len(value)


def limits() -> dict[str, Any]:
    """Return the file of limits."""
    content: dict[str, Any] = json.loads(LIMITS.read_text(encoding="utf-8"))
    return content


def main() -> int:
    """Print the figures; return 1 if one is above its limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--all", action="store_true", help="also what trains two steps")
    parser.add_argument("--list", metavar="FIGURE", help="name what a figure counts")
    parser.add_argument("--lower", action="store_true", help="write limits that have fallen")
    options = parser.parse_args()
    if options.list:
        listed = (FIGURES | SLOW | LISTS)[options.list]()
        print(*(listed if isinstance(listed, list) else [listed]), sep="\n")
        return 0
    file = limits()
    above = 0
    print(f"{'figure':<48}{'now':>9}{'limit':>9}{'goal':>9}")
    for name in FIGURES | (SLOW if options.all else {}):
        now, row = measure(name), file["figures"][name]
        above += now > row["limit"]
        print(f"{name:<48}{now:>9}{row['limit']:>9}{row['goal']:>9}")
        if options.lower:
            row["limit"] = min(now, row["limit"])
    if options.lower:
        LIMITS.write_text(json.dumps(file, indent=1) + "\n", encoding="utf-8")
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
