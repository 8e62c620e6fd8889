"""The process that fills Jinja templates: a question as JSON on stdin, the answers on stdout. See ``templates``."""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Callable
from typing import Any

MEMORY = 2**30
LONGEST = 2**20
"""Characters that one filled template may have."""


def main() -> None:
    """Answer one question under limits."""
    question = json.load(sys.stdin)
    seconds = int(question["seconds"])
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["regex_replace"] = _replace
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    def guarded(work: Callable[[], str | None]) -> tuple[str | None, str]:
        try:
            return work(), ""
        except TemplateError as error:
            return None, f"{type(error).__name__}: {error}"
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            return None, f"{type(error).__name__}: {error}"
        except re.error as error:
            return None, f"no regular expression: {error}"

    def compiled(source: str) -> None:
        environment.from_string(source)

    if "check" in question:
        answers = [guarded(lambda source=source: compiled(source)) for source in question["check"]]
    else:
        asked = question["jobs"]
        known: dict[int, Any] = {}

        def filled(place: int, row: dict[str, Any]) -> str:
            if place not in known:
                known[place] = environment.from_string(asked["templates"][place])
            text = str(known[place].render(row))
            if len(text) > LONGEST:
                raise ValueError(f"it writes more than {LONGEST:,} characters")
            return text

        answers = [
            guarded(lambda place=place, row=row: filled(place, asked["rows"][row]))
            for place, row in asked["pairs"]
        ]
    json.dump(answers, sys.stdout)


def _replace(text: str, pattern: str, into: str, count: int = 0) -> str:
    return re.sub(pattern, into, text, count=count)


if __name__ == "__main__":
    main()
