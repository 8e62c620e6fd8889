"""Remove secrets, network addresses and file paths from texts and JSON."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prorl_common.hub import hub_token

SECRET, ADDRESS, PATH = "[secret]", "[address]", "[path]"
_SECRET_NAME = re.compile(
    r"(?:^|[_.-])(?:token|secret|password|passwd|credentials?|authorization|cookie|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|(?<=[_-])key)s?$",
    re.IGNORECASE,
)
"""Matches the names of settings and variables that hold secrets."""
_SECRET_SHAPES = re.compile(
    r"\bhf_[A-Za-z0-9]{12,}|\bsk-[\w-]{12,}|\bgh[opsur]_\w{16,}|\bgithub_pat_\w{16,}|\bxox[a-z]-[\w-]{10,}|\bAKIA[0-9A-Z]{12,}"
)
_CREDENTIALS = re.compile(r"\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}")
_ADDRESSES = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>,;)\]}]+"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"
    r"|(?<![\w.-])(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]*:\d{2,5}\b"
    r"|\blocalhost(?::\d+)?\b"
)
_PART = r"[^\s/'\"`<>|,;:()\[\]{}]+"
_PATHS = re.compile(rf"(?<![\w.~/<:-])(?:~[\w.-]*|\.{{1,2}})?/(?:{_PART}/)*{_PART}/?")
_SHORTEST_SECRET = 8


class Private:
    """Removes secrets, network addresses and file paths, including the paths ``names``, from texts."""

    def __init__(self, environment: Mapping[str, str], names: Iterable[str] = ()) -> None:
        secrets = {v for k, v in environment.items() if _SECRET_NAME.search(k)}
        secrets |= {hub_token(environment) or ""}
        self._secrets = sorted((s for s in secrets if len(s) >= _SHORTEST_SECRET), key=len)[::-1]
        home = environment.get("HOME") or ""
        places = {*names, *(str(Path(n).expanduser().absolute()) for n in names), home, os.getcwd()}
        places = {p.rstrip("/") for p in places if p.count("/") and len(p.rstrip("/")) > 1}
        ends = "|".join(re.escape(p) for p in sorted(places, key=len, reverse=True))
        self._places = re.compile(rf"(?<![\w.-])(?:{ends})(?:/{_PART})*(?![\w-])") if ends else None
        self._host = socket.gethostname()

    def text(self, value: str) -> str:
        """Return the text with these parts replaced by ``[secret]``, ``[address]`` and ``[path]``."""
        for secret in self._secrets:
            value = value.replace(secret, SECRET)
        value = _CREDENTIALS.sub(SECRET, _SECRET_SHAPES.sub(SECRET, value))
        value = _ADDRESSES.sub(ADDRESS, value)
        if self._places is not None:
            value = self._places.sub(PATH, value)
        value = _PATHS.sub(PATH, value)
        if len(self._host) > 4:
            value = re.sub(rf"(?<![\w.-]){re.escape(self._host)}(?![\w-])", ADDRESS, value)
        return value

    def json(self, value: Any) -> Any:
        """Return the JSON value with all strings cleaned by :meth:`text`, and without keys that hold secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            secret = {
                key
                for key, item in value.items()
                if isinstance(item, str | list | tuple) and _SECRET_NAME.search(str(key))
            }
            return {
                self.text(str(key)): self.json(item)
                for key, item in value.items()
                if key not in secret
            }
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def holds_secret(self, value: str) -> bool:
        """Return whether a text contains a known secret, or a string in the form of an access token."""
        return any(s in value for s in self._secrets) or bool(_SECRET_SHAPES.search(value))
