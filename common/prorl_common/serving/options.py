"""Options of a service: address, limits and token."""

from __future__ import annotations

import ipaddress
import math
import os
from dataclasses import dataclass, field
from pathlib import Path

from prorl_common.errors import UserError

MIN_TOKEN = 16
"""Minimum number of characters of a token."""
MAX_BODY_MB = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Maximum number of connections (``most``), and for each phase of a connection the maximum seconds."""

    most: int = 4096
    idle: float = 75.0
    header: float = 10.0
    body: float = 65.0
    work: float = math.inf
    answer: float = 30.0
    leftover: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenOptions:
    """Address and limits of a service. ``max_body_mb`` is in MiB.

    ``uds`` is the path of a Unix socket, used instead of host and port. ``queue`` is the maximum number of waiting
    items. ``hosts`` are further host names under which the service is reached.
    """

    port: int
    queue: int
    host: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    uds: Path | None = None
    max_body_mb: float = 64.0
    token: str = field(default="", repr=False)
    read_seconds: float = 60.0
    drain_seconds: float = 60.0
    ready_file: Path | None = None
    connections: ConnectionLimits = ConnectionLimits()

    @property
    def max_body(self) -> int:
        return int(self.max_body_mb * 1024 * 1024)


def check_listening(options: ListenOptions) -> None:
    """Raise UserError for invalid options, or if other machines can connect but there is no token."""
    if options.queue < 1:
        raise UserError("--queue must be at least 1")
    if not 0 < options.max_body_mb <= MAX_BODY_MB or not 0 <= options.drain_seconds < math.inf:
        raise UserError(
            f"--max-body-mb must be above 0 and at most {MAX_BODY_MB}, --drain finite and at least 0"
        )
    if options.token and (len(options.token) < MIN_TOKEN or not options.token.isascii()):
        raise UserError(
            f"the token must have at least {MIN_TOKEN} ASCII characters: make one with "
            "openssl rand -hex 24"
        )
    if options.uds is None and not options.token and not is_loopback(options.host):
        raise UserError(
            f"{options.host} can be reached from other machines: give a token (--token-file FILE or "
            "PRORL_TOKEN), or leave --host at 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_token(file: Path | None) -> str:
    """Return the token in ``file``, or PRORL_TOKEN if ``file`` is None, or "".

    Raises UserError for a file that is unreadable, empty or readable by other users.
    """
    if file is None:
        return os.environ.get("PRORL_TOKEN", "").strip()
    try:
        text = file.read_text().strip()
        mode = file.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the token file {file}: {error}") from error
    if not text:
        raise UserError(
            f"the token file {file} is empty: write a token with openssl rand -hex 24 > {file}"
        )
    if mode & 0o077:
        raise UserError(f"other users can read the token file {file}: run chmod 600 {file}")
    return text
