"""``prorl sandbox doctor``: which walls this machine can put up."""

from __future__ import annotations

from typing import Any

from prorl_cli.console import print_json, stdout_console
from prorl_cli.options import Json, PluginOption

_FEATURES = (
    ("user", "user namespace"),
    ("pid", "process namespace"),
    ("mount", "private file system"),
    ("net", "network namespace"),
    ("ipc", "IPC namespace"),
    ("seccomp", "system-call filter"),
    ("no_new_privs", "no new privileges"),
    ("rlimits", "resource limits of each process"),
    ("cgroup_v1", "control groups v1: memory and processes of a whole box"),
    ("cgroup_v2", "control groups v2: the same"),
)


def doctor_command(plugin: PluginOption = None, as_json: Json = False) -> None:
    """Try every isolation feature on this machine and print what holds."""
    from rich.table import Table

    from prorl_sandbox import LANGUAGES, probe
    from prorl_sandbox.box import foreign
    from prorl_sandbox.environments import store
    from prorl_sandbox.local.view import interpreter

    found = probe()
    tools: dict[str, str | None] = {}  # each language's compiler or interpreter, where installed
    for spec in LANGUAGES.all():
        own = [foreign.find(names) for names in spec.tools] or [interpreter()]
        tools[spec.name] = own[0] if all(own) else None
    environments = store.entries()
    if as_json:
        facts: dict[str, Any] = {name: getattr(found, name) for name, _ in _FEATURES}
        facts["languages"] = [language for language, program in tools.items() if program]
        facts["environments"] = {entry.name: entry.state for entry in environments}
        extra = {"landlock_abi": found.landlock_abi, "root": found.root, "strong": found.strong}
        reasons = {"isolation": found.isolation, "reasons": dict(found.reasons)}
        print_json(facts | extra | reasons)
        return
    table = Table(title="sandbox isolation on this machine")
    for title in ("feature", "holds", "note"):
        table.add_column(title)
    for name, label in _FEATURES:
        note = found.reasons.get(name, "")
        table.add_row(label, "yes" if getattr(found, name) else "no", note)
    abi = found.landlock_abi
    landlock = f"ABI {abi}" if abi else found.reasons.get("landlock_abi", "")
    table.add_row("Landlock: files, sockets, signals", "yes" if abi else "no", landlock)
    for language, program in tools.items():
        table.add_row(
            f"language {language}", "yes" if program else "no", program or "not installed"
        )
    for entry in environments:
        cure = {"not built", "outdated"} & {entry.state}
        note = f"{entry.state}: prorl sandbox build-env {entry.name}" if cure else entry.state
        table.add_row(f"environment {entry.name}", "no" if cure else "yes", note)
    table.add_row("running as root", "yes" if found.root else "no", "")
    console = stdout_console()
    console.print(table)
    console.print(f"isolation level: {found.isolation}", markup=False)
    if not found.strong:
        console.print(found.complaint(), markup=False, soft_wrap=True)
