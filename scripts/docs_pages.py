"""Pages of the site that are made from the code at every build: the command line and the Python names.

MkDocs calls ``on_files`` (mkdocs.yml, ``hooks``). Nothing is written into docs/, so nothing can go stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ROOMS = (
    "prorl_verifiers",
    "prorl_datasets",
    "prorl_sandbox",
    "prorl_inference",
    "prorl_training",
    "prorl_evaluation",
    "prorl_common",
)


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to MkDocs' files."""
    from mkdocs.structure.files import File

    for path, content in (("reference/cli.md", cli_page()), ("reference/api.md", api_page())):
        files.append(File.generated(config, path, content=content))
    return files


def cli_page() -> str:
    """Return the page of every command with its options, as ``--help`` prints them."""
    import typer

    from prorl_cli.main import build_app

    parts = [
        "# The command line",
        (
            "What `--help` prints. Exit codes: 0 done, 2 a mistake of yours (one line with the cure), 1 a fault of ours or "
            "of a service, 130 interrupted. `prorl --install-completion` sets up your shell's completion."
        ),
    ]
    for words, text in _commands(typer.main.get_command(build_app()), ("prorl",)):
        parts.append(f"{'#' * min(len(words) + 1, 4)} {' '.join(words)}\n\n```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (words, help) of a command and of all below it."""
    context = command.make_context(" ".join(words), [], resilient_parsing=True)
    context.terminal_width = context.max_content_width = 88
    yield words, command.get_help(context).strip()
    for name in getattr(command, "commands", {}):
        yield from _commands(command.commands[name], (*words, name))


def api_page() -> str:
    """Return the page of the public names: the facade in full, then each room's."""
    import importlib

    facade = importlib.import_module("prorl")
    parts = [
        "# Python",
        "`import prorl` has what a notebook needs; each room has the rest.",
        "## prorl",
    ]
    values = {name: getattr(facade, name) for name in facade.__all__}
    for name in sorted(values, key=lambda n: (isinstance(values[n], type), n)):  # functions first
        value = values[name]
        options = f"options: {{heading_level: 3, heading: prorl.{name}, toc_label: {name}}}"
        parts.append(f"::: {value.__module__}.{value.__qualname__}\n    {options}")
    for room in ROOMS:
        module = importlib.import_module(room)
        parts.append(f"## {room}\n\n{(module.__doc__ or '').strip()}")
        rows = []
        for name in module.__all__:
            value = getattr(module, name)
            first = (getattr(value, "__doc__", None) or "").strip().split("\n")[0]
            own = getattr(value, "__module__", "").startswith("prorl")
            rows.append(f"| `{name}` | {first.replace('|', '/') if own else ''} |")
        parts.append("| name | |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"
