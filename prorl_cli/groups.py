"""Command groups whose help lists commands by purpose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from typer.core import TyperGroup


class ByPurpose(TyperGroup):
    """A command group whose help lists commands under the titles of ``purposes``."""

    purposes: ClassVar[Mapping[str, str]] = {}
    """Maps a title to the names of its commands, separated by spaces."""

    def list_commands(self, ctx: Any) -> list[str]:
        listed = [name for names in self.purposes.values() for name in names.split()]
        return [*listed, *(name for name in super().list_commands(ctx) if name not in listed)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        title_of = {name: title for title, names in self.purposes.items() for name in names.split()}
        width = formatter.width - 6 - max(map(len, self.commands), default=0)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                title = title_of.get(name, "Commands")
                row = (name, command.get_short_help_str(width))
                sections.setdefault(title, []).append(row)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def by_purpose(purposes: Mapping[str, str]) -> type[ByPurpose]:
    return type("Group", (ByPurpose,), {"purposes": purposes})
