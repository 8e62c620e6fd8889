"""Shows why a response has its reward: a tree on a terminal, indented lines without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prorl_cli.console import stdout_console

if TYPE_CHECKING:
    from rich.tree import Tree

    from prorl_verifiers import Finding

_MARKS = {"passed": "✓", "failed": "✗", "neutral": "·"}
_STYLES = {"passed": "green", "failed": "red", "neutral": "dim"}
_SHOWN = 400
"""Characters of a text that are shown; ``--json`` has more."""


def show(findings: tuple[Finding, ...]) -> None:
    """Print the findings to stdout."""
    console = stdout_console()
    if console.is_terminal:
        from rich.tree import Tree

        tree = Tree("why", guide_style="dim")
        _grow(tree, findings)
        console.print(tree)
        return
    for line in _lines(findings, ""):
        print(line)


def _grow(tree: Tree, findings: tuple[Finding, ...]) -> None:
    from rich.text import Text

    for finding in findings:
        style = _STYLES[finding.outcome]
        branch = tree.add(Text.assemble((_MARKS[finding.outcome], style), " ", _heading(finding)))
        for label, text in finding.fields:
            branch.add(Text.assemble((f"{label}: ", "dim"), "\n".join(_shown(text))))
        _grow(branch, finding.parts)


def _lines(findings: tuple[Finding, ...], indent: str) -> Iterator[str]:
    for finding in findings:
        said = "" if finding.outcome == "neutral" else f": {finding.outcome}"
        yield f"{indent}{_heading(finding)}{said}"
        for label, text in finding.fields:
            first, *rest = _shown(text)
            yield f"{indent}  {label}: {first}"
            yield from (f"{indent}    {line}" for line in rest)
        yield from _lines(finding.parts, indent + "  ")


def _heading(finding: Finding) -> str:
    from prorl_verifiers.audit.report import printable

    span = finding.span
    place = "" if span is None else f" (characters {span[0]} to {span[1]})"
    return printable(finding.title) + place


def _shown(text: str) -> list[str]:
    """Return the lines of a text that cannot steer a terminal."""
    from prorl_verifiers.audit.report import printable
    from prorl_verifiers.findings import cut

    return [printable(line) for line in cut(text.rstrip("\n"), _SHOWN).split("\n")]
