"""Generates the docs site's navigation, API pages, command-line page and tables, as hooks of mkdocs.

Everything is read from the code: the wheel's packages in pyproject.toml, each package's ``__all__``, and the Typer app.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference.tables import filled

ROOT = Path(__file__).resolve().parent.parent

SECTIONS = {
    "Tutorials": "tutorials",
    "How-to": "guides",
    "Concepts": "concepts",
    "Reference": "reference",
    "Evidence": "evidence",
}
"""Heading -> folder of docs/; every page of a folder is shown, in the order of the file names."""

FIRST = ("own-model", "own-trainer", "served-model", "cluster")
"""Tutorials are read in this order; others follow."""

CLI_PAGE = "reference/cli.md"


def packages() -> dict[str, Path]:
    """Return name -> folder of each package of the wheel except the command line."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    folders = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return {Path(folder).name: ROOT / folder for folder in folders if folder != "prorl_cli"}


def public_names(package: Path) -> list[str]:
    """Return the names in ``__all__`` of a package, read without importing it."""
    tree = ast.parse((package / "__init__.py").read_text("utf-8"))
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            value = getattr(node, "value", None)
            assert value is not None
            return list(ast.literal_eval(value))
    raise ValueError(f"{package}/__init__.py has no __all__")


def api_page(name: str, package: Path) -> str:
    """Return the API page of a package: its docstring, then each public name, functions before types."""
    head = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    names = [public for public in public_names(package) if not public.startswith("_")]
    names.sort(key=lambda public: not public.islower())  # the sort is stable
    return "\n\n".join([f"# {name}", head, *(f"::: {_place(name, n)}" for n in names)]) + "\n"


def _place(package: str, name: str) -> str:
    """Return the dotted path of a public name in its package, or in its module if both have the same name."""
    found = getattr(importlib.import_module(package), name)
    home = getattr(found, "__module__", "")
    return f"{home}.{name}" if home.endswith(f".{name}") else f"{package}.{name}"


def cli_page() -> str:
    """Return the page of the command line: each command's help, arguments and options."""
    import typer
    from typer.main import get_command

    from prorl_cli.main import build_app

    lines = [
        "# Command line",
        "Read from the program itself; `prorl COMMAND --help` says the same.",
    ]
    root: Any = get_command(build_app())
    context = typer.Context(root, info_name="prorl")
    for path, command in _commands(("prorl",), root):
        lines += _command(context, path, command)
    return "\n\n".join(lines) + "\n"


def _commands(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _commands((*path, name), child)


def _command(context: Any, path: tuple[str, ...], command: Any) -> list[str]:
    usage = " ".join([*path, *command.collect_usage_pieces(context)])
    lines = [
        f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}",
        "\n".join(line.strip() for line in (command.help or "").splitlines()).replace("<", "&lt;"),
        f"    {usage}",
    ]
    rows = [row for row in (_row(context, param) for param in command.params) if row]
    if rows:
        lines.append("\n".join(["| name | meaning |", "|---|---|", *rows]))
    children = [
        name for name, child in getattr(command, "commands", {}).items() if not child.hidden
    ]
    if children:
        links = (f"[{name}](#{'-'.join([*path, name])})" for name in children)
        lines.append("Commands: " + " · ".join(links))
    return [line for line in lines if line]


def _row(context: Any, param: Any) -> str:
    record = None if param.name == "help" else param.get_help_record(context)
    return f"| `{record[0]}` | {_words(record[1])} |" if record else ""


def _words(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def navigation(docs: Path) -> list[dict[str, Any]]:
    """Return the navigation for the pages in ``docs``, without empty sections."""
    found: list[dict[str, Any]] = [{"Start": _start(docs)}]
    for title, folder in SECTIONS.items():
        pages = sorted((docs / folder).glob("*.md"), key=_order)
        entries: list[Any] = [page.relative_to(docs).as_posix() for page in pages]
        if folder == "reference":
            entries = [
                {"Command line": CLI_PAGE},
                {"Python": [{name: f"reference/api/{name}.md"} for name in packages()]},
                *entries,
            ]
        if entries:
            found.append({title: entries})
    return [*found, {"Papers": "papers.md"}, {"Architecture": "architecture.md"}]


def _start(docs: Path) -> list[str]:
    rest = sorted(page.name for page in docs.glob("*.md"))
    placed = {"index.md", "papers.md", "architecture.md"}
    return ["index.md", *(name for name in rest if name not in placed)]


def _order(page: Path) -> tuple[int, str]:
    place = FIRST.index(page.stem) if page.stem in FIRST else len(FIRST)
    return (-1 if page.stem == "index" else place, page.name)


def on_config(config: Any) -> Any:
    """Set the navigation (mkdocs hook)."""
    config["nav"] = navigation(Path(config["docs_dir"]))
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (mkdocs hook)."""
    from mkdocs.structure.files import File

    for name, package in packages().items():
        text = api_page(name, package)
        files.append(File.generated(config, f"reference/api/{name}.md", content=text))
    files.append(File.generated(config, CLI_PAGE, content=cli_page()))
    return files


OUTSIDE = re.compile(r"(\]\()((?:\.\./)+)([^)#\s]+)((?:#[^)\s]*)?\))")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Fill in tables, and replace links to files outside docs/ by their paths (mkdocs hook)."""
    del files
    folder = Path(config["docs_dir"], os.path.dirname(page.file.src_uri))

    def outside(link: re.Match[str]) -> str:
        target = (folder / (link[2] + link[3])).resolve()
        inside = target.is_relative_to(Path(config["docs_dir"]))
        return link[0] if inside or not target.exists() else f"{link[1]}OUTSIDE)"

    marked = OUTSIDE.sub(outside, filled(markdown))
    return re.sub(r"\[([^\]]+)\]\(OUTSIDE\)", r"\1", marked)
