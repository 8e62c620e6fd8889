"""The process that fills Jinja templates: a question as JSON on stdin, the answers on stdout. See ``templates``."""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Callable
from typing import Any

MEMORY = 2**30
_OF_THE_ROW = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
LONGEST = 2**20
"""Characters that one filled template may have."""


def main() -> None:
    """Answer one question under limits."""
    question = json.load(sys.stdin)
    seconds = int(question["seconds"])
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["regex_replace"] = _replace
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    def filled(template: str, row: dict[str, Any]) -> str:
        if template not in known:
            known[template] = environment.from_string(template)
        text = str(known[template].render(row))
        if len(text) > LONGEST:
            raise ValueError(f"it writes more than {LONGEST:,} characters")
        return text

    known: dict[str, Any] = {}
    answers = [
        _guarded(filled, question["templates"][template], question["rows"][row])
        for template, row in question["pairs"]
    ]
    json.dump(answers, sys.stdout)


def _guarded(work: Callable[..., str], *given: Any) -> tuple[str | None, str]:
    """Return what ``work`` returns and no complaint, or nothing and what is wrong with the template or the row."""
    from jinja2 import TemplateError

    try:
        return work(*given), ""
    except (TemplateError, re.error, *_OF_THE_ROW) as error:
        return None, f"{type(error).__name__}: {error}"


def _replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    """Return what the harness's ``regex_replace`` does; a template may name its arguments."""
    return re.sub(pattern, repl, string, count=count)


if __name__ == "__main__":
    main()
