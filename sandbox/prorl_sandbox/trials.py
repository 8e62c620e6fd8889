"""Which languages work in a sandbox: a tiny program of each is compiled and run, and called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prorl_sandbox.run.compiling import LanguageError
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import Outcome, Program, Sandbox

_ANSWER = 42


@dataclass(frozen=True, slots=True)
class TriedLanguage:
    """What was found: ``runs`` whole programs, takes ``calls``; ``note`` says why not, with the
    cure."""

    name: str
    runs: bool
    calls: bool
    note: str = ""


def try_languages(sandbox: Sandbox) -> Iterator[TriedLanguage]:
    """Try each language that is registered. Raises SandboxError when the sandbox itself fails."""
    for spec in LANGUAGES.all():
        yield _try(sandbox, spec)


def _try(sandbox: Sandbox, spec: LanguageSpec) -> TriedLanguage:
    trial = spec.trial
    if trial is None:
        return TriedLanguage(spec.name, False, False, "its plug-in brings no trial program")
    packages = " ".join(spec.packages)
    cure = f"apt-get install {packages}" if packages else "install its tools"
    try:
        outcome = sandbox.run(Program(trial.source, language=spec.name))
    except LanguageError:
        return TriedLanguage(spec.name, False, False, f"not installed: {cure}")
    if outcome.status != "ok" or outcome.stdout.strip() != str(_ANSWER):
        note = f"its trial program ended as {_ending(outcome)}: {cure}"
        return TriedLanguage(spec.name, False, False, note)
    if not trial.call:
        return TriedLanguage(spec.name, True, False)
    program = Program(trial.call, call="add", args=(_ANSWER - 2, 2), language=spec.name)
    outcome = sandbox.run(program)
    if outcome.status != "ok" or outcome.value != _ANSWER:
        return TriedLanguage(spec.name, True, False, f"its trial call ended as {_ending(outcome)}")
    return TriedLanguage(spec.name, True, True)


def _ending(outcome: Outcome) -> str:
    """Return the status and the first line of what it complained about."""
    lines = (outcome.stderr or outcome.stdout).strip().splitlines()
    return outcome.status + (f" ({lines[0][:200]})" if lines else "")
