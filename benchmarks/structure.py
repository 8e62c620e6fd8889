"""The shape of the code, measured: modules, lines, functions, fragments, circles.

    python benchmarks/structure.py [FOLDER ...] [--list] [--json FILE]

Read from the source alone; generated problem families (``procedural/``) and tests do not count. A
*fragment* is a module-level private function that its module uses once. ``--list`` names them.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "common",
    "sandbox",
    "verifiers",
    "datasets",
    "inference",
    "training",
    "evaluation",
    "prorl_cli",
)


@dataclass(frozen=True)
class Structure:
    """The figures of some folders."""

    modules: int
    lines: int
    median_module: float
    functions: int
    median_function: float
    longest_function: int
    private_functions: int
    fragments: tuple[str, ...]
    circles: tuple[tuple[str, ...], ...]

    @property
    def fragment_share(self) -> float:
        """Share of the private functions that are used once."""
        return len(self.fragments) / max(self.private_functions, 1)


def measure(folders: list[Path]) -> Structure:
    """Return the figures of all Python files under ``folders``."""
    files = [f for folder in folders for f in sorted(folder.rglob("*.py"))]
    files = [f for f in files if "procedural" not in f.parts]
    trees = {file: ast.parse(file.read_text()) for file in files}
    sizes: list[int] = []
    private = 0
    fragments = []
    for file, tree in trees.items():
        uses = collections.Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                sizes.append((node.end_lineno or node.lineno) - node.lineno + 1)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[0] == "_":
                private += 1
                if uses[node.name] <= 1:
                    fragments.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    lines = [file.read_text().count("\n") for file in files]
    return Structure(
        modules=len(files),
        lines=sum(lines),
        median_module=statistics.median(lines),
        functions=len(sizes),
        median_function=statistics.median(sizes),
        longest_function=max(sizes),
        private_functions=private,
        fragments=tuple(fragments),
        circles=circles(trees),
    )


def circles(trees: dict[Path, ast.Module]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of modules that import each other, directly or by way of others."""
    named = {_dotted(file): tree for file, tree in trees.items()}
    graph: dict[str, set[str]] = {name: set() for name in named}
    for name, tree in named.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names} & set(named)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    graph[name] |= {whole if whole in named else node.module} & set(named)
        graph[name].discard(name)
    reached = {name: _reachable(graph, name) for name in graph}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return tuple(sorted(groups))


def _dotted(file: Path) -> str:
    parts = list(file.relative_to(ROOT).with_suffix("").parts)
    if not parts[0].startswith("prorl_"):
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    queue = list(graph[start])
    while queue:
        name = queue.pop()
        if name not in seen:
            seen.add(name)
            queue += graph[name]
    return seen


def main() -> None:
    """Print the figures, and write them where ``--json`` says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="default: every room")
    parser.add_argument("--list", action="store_true", help="name the fragments")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folders = [folder.resolve() for folder in options.folders]
    found = measure(folders or [ROOT / room for room in ROOMS])
    print(f"modules {found.modules}, lines {found.lines}, median module {found.median_module:g}")
    print(
        f"functions {found.functions}, median {found.median_function:g} lines, "
        f"longest {found.longest_function}"
    )
    print(
        f"private functions {found.private_functions}, used once {len(found.fragments)} "
        f"({found.fragment_share:.0%})"
    )
    print(f"import circles {len(found.circles)}", *found.circles, sep="\n  ")
    if options.list:
        print(*found.fragments, sep="\n")
    if options.json:
        options.json.write_text(json.dumps(asdict(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
