"""``prorl sandbox doctor``: which walls this machine can put up and which languages work there, or the
services elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from prorl_cli.console import make_progress, print_json, stdout_console
from prorl_cli.options import Json, PluginOption, SandboxBackend

if TYPE_CHECKING:
    from prorl_sandbox.trials import TriedLanguage

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


def doctor_command(
    backend: SandboxBackend = "local", plugin: PluginOption = None, as_json: Json = False
) -> None:
    """Try every isolation feature and every language.

    With --backend remote:URL[,URL] it asks the services there.
    """
    name, _, urls = backend.partition(":")
    if name == "remote":
        show_services(urls, as_json)
    else:
        show_machine(backend, as_json)


def show_services(urls: str, as_json: bool) -> None:
    """Print the state of sandbox services. Exit code 1 when one of them takes no jobs from here."""
    from rich.table import Table

    from prorl_sandbox.remote.sandbox import ask_services

    found = ask_services(urls)
    if as_json:
        print_json(
            [
                {"url": url, "state": hello and asdict(hello), "trouble": trouble}
                for url, hello, trouble in found
            ]
        )
    else:
        table = Table(title="sandbox services")
        for title in ("service", "isolation", "slots", "free", "waiting", "prorl", "note"):
            table.add_column(title)
        for url, hello, trouble in found:
            facts = [""] * 5
            if hello is not None:
                counts = (hello.slots, hello.free, hello.queued)
                facts = [hello.isolation, *map(str, counts), hello.version]
            table.add_row(url, *facts, trouble)
        stdout_console().print(table)
    if any(trouble for _, _, trouble in found):
        raise typer.Exit(1)


def show_machine(backend: str, as_json: bool) -> None:
    """Print which walls this machine can put up, and which languages work in a box of ``backend``."""
    from rich.table import Table

    from prorl_sandbox import probe
    from prorl_sandbox.environments import store

    found = probe()
    languages = _try_languages(backend)
    environments = store.entries()
    if as_json:
        facts: dict[str, Any] = {name: getattr(found, name) for name, _ in _FEATURES}
        facts["languages"] = [tried.name for tried in languages if tried.runs]
        facts["calls"] = [tried.name for tried in languages if tried.calls]
        facts["language_notes"] = {tried.name: tried.note for tried in languages if tried.note}
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
    for tried in languages:
        note = tried.note or ("programs and calls" if tried.calls else "programs")
        table.add_row(f"language {tried.name}", "yes" if tried.runs else "no", note)
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


def _try_languages(backend: str) -> list[TriedLanguage]:
    """Run each language's trial, which is trusted, in a box: however weak its walls are."""
    from prorl_sandbox import LANGUAGES, SandboxError, open_sandbox
    from prorl_sandbox.trials import TriedLanguage, try_languages

    progress = make_progress()
    progress.start("languages", len(LANGUAGES.all()))
    sandbox = open_sandbox(backend, allow_weak=True)
    tried: list[TriedLanguage] = []
    try:
        for one in try_languages(sandbox):
            tried.append(one)
            progress.advance(step=one.name)
    except SandboxError as error:
        for name in LANGUAGES.names()[len(tried) :]:
            tried.append(TriedLanguage(name, False, False, str(error)))
    finally:
        progress.finish()
        sandbox.close()
    return tried
