"""A sandbox without processes, for tests that choose the outcomes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

from prorl_sandbox import Budget, Call, Case, Check, Limits, Outcome, Program, Stdin
from prorl_sandbox.run.sandbox import Account

DEFAULT = Limits()


class FakeSandbox:
    """Implement ``Sandbox`` by ``run`` and ``run_check`` of a subclass; cases run one after another."""

    isolation = "fake"

    def run(self, program: Program, limits: Limits = DEFAULT) -> Outcome:
        """Return the outcome that the test wants."""
        raise NotImplementedError

    def run_check(
        self, program: Program, checker: str, entry_point: str, limits: Limits = DEFAULT
    ) -> Outcome:
        return self.run(program, limits)

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = DEFAULT,
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        """Run the cases one after another."""
        account = Account(budget, limits)
        for case in cases:
            if account.spent:
                yield account.nothing_left(self.isolation)
                continue
            left = account.limits()
            match case:
                case Stdin(text=stdin):
                    outcome = self.run(replace(program, stdin=stdin, call=None, args=()), left)
                case Call(name=name, args=args):
                    outcome = self.run(replace(program, call=name, args=args), left)
                case Check(source=checker, entry_point=entry_point):
                    outcome = self.run_check(program, checker, entry_point, left)
            yield account.charge(outcome)

    def check_environment(self, name: str) -> None:
        """Accept every environment."""

    def close(self) -> None:
        """Do nothing: there is nothing to free."""


def processes_named(name: str) -> list[str]:
    """Return the ids of this machine's processes of that name."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/comm"):
        try:
            if entry.read_text().strip() == name:
                found.append(entry.parent.name)
        except OSError:
            continue  # it ended during the scan
    return found
