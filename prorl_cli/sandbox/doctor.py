"""``prorl sandbox doctor``: check isolation features and languages."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from prorl_cli.console import make_progress, print_json, print_table, stdout_console
from prorl_cli.options import Json, SandboxBackend
from prorl_cli.sandbox.attack import run_attacks

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
    ("cgroup_v2", "control groups v2: memory and processes of a whole box"),
)


Attack = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CASE",
        help="Instead, run hostile programs and print which ones were contained: all, or one case such as A05; repeatable.",
    ),
]


def doctor_command(
    backend: SandboxBackend = "local", attack: Attack = None, as_json: Json = False
) -> None:
    """Test every isolation feature and every language.

    Example: prorl sandbox doctor
    """
    if attack:
        run_attacks(backend, attack, as_json)
        return
    from prorl_sandbox import LANGUAGES, SandboxError, open_sandbox, probe
    from prorl_sandbox.capabilities import TriedLanguage, try_languages
    from prorl_sandbox.environments import store

    capabilities = probe()
    progress = make_progress()
    progress.start("languages", len(LANGUAGES.all()))
    sandbox = open_sandbox(backend, allow_weak=True)  # the trial programs are trusted
    languages: list[TriedLanguage] = []
    try:
        for tried in try_languages(sandbox):
            languages.append(tried)
            progress.advance(step=tried.name)
    except SandboxError as error:
        for name in LANGUAGES.names()[len(languages) :]:
            languages.append(TriedLanguage(name, False, False, str(error)))
    finally:
        progress.finish()
        sandbox.close()
    environments = store.entries()
    if as_json:
        facts: dict[str, Any] = {name: getattr(capabilities, name) for name, _ in _FEATURES}
        facts["languages"] = [tried.name for tried in languages if tried.runs]
        facts["calls"] = [tried.name for tried in languages if tried.calls]
        facts["language_notes"] = {tried.name: tried.note for tried in languages if tried.note}
        facts["environments"] = {entry.name: entry.state for entry in environments}
        extra = {
            "landlock_abi": capabilities.landlock_abi,
            "root": capabilities.root,
            "strong": capabilities.strong,
        }
        reasons = {"isolation": capabilities.isolation, "reasons": dict(capabilities.reasons)}
        print_json(facts | extra | reasons)
        return
    rows = []
    for name, label in _FEATURES:
        note = capabilities.reasons.get(name, "")
        rows.append((label, "yes" if getattr(capabilities, name) else "no", note))
    abi = capabilities.landlock_abi
    landlock = f"ABI {abi}" if abi else capabilities.reasons.get("landlock_abi", "")
    rows.append(("Landlock: files, sockets, signals", "yes" if abi else "no", landlock))
    for tried in languages:
        note = tried.note or ("programs and calls" if tried.calls else "programs")
        rows.append((f"language {tried.name}", "yes" if tried.runs else "no", note))
    for entry in environments:
        cure = {"not built", "outdated"} & {entry.state}
        note = f"{entry.state}: prorl sandbox build-env {entry.name}" if cure else entry.state
        rows.append((f"environment {entry.name}", "no" if cure else "yes", note))
    rows.append(("running as root", "yes" if capabilities.root else "no", ""))
    console = stdout_console()
    print_table("sandbox isolation on this machine", ("feature", "holds", "note"), rows)
    console.print(f"isolation level: {capabilities.isolation}", markup=False)
    if not capabilities.strong:
        console.print(capabilities.complaint(), markup=False, soft_wrap=True)
