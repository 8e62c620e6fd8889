"""The language of a code task. Names, aliases and fence names are the sandbox's ``LanguageSpec``'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prorl_common import UserError
from prorl_verifiers.types import TaskError

if TYPE_CHECKING:
    from prorl_sandbox import LanguageSpec


def read_language(given: Any) -> LanguageSpec:
    """Return the language that a reference names; None is Python.

    Aliases count in any case ("C++", "js", "python3"). Raises TaskError naming the nearest.
    """
    from prorl_sandbox import find_language

    if given is not None and not isinstance(given, str):
        raise TaskError("'language' must be text")
    try:
        return find_language("python" if given is None else given)
    except UserError as error:
        raise TaskError(str(error)) from error
