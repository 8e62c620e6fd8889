"""Settings of the Hugging Face hub from environment variables, and uploads to the hub."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from prorl_common.errors import ServiceError, UserError
from prorl_common.progress import Progress

HUB = "https://huggingface.co"
_YES = ("1", "ON", "YES", "TRUE")
_REPO = re.compile(r"[\w.-]+/[\w.-]+")
_PAGES = {"dataset": "datasets/", "model": ""}
"""Prefix of a repository's path on the hub's website."""


def hub_address(environment: Mapping[str, str]) -> str:
    """Return the URL of the hub: HF_ENDPOINT, else the public hub."""
    return environment.get("HF_ENDPOINT") or HUB


def hub_home(environment: Mapping[str, str]) -> Path:
    """Return the folder of huggingface_hub's cache and token."""
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(environment.get("HF_HOME") or f"{base}/huggingface").expanduser()


def hub_token(environment: Mapping[str, str]) -> str | None:
    """Return HF_TOKEN, else the token that ``hf auth login`` stored, else None."""
    if named := environment.get("HF_TOKEN"):
        return named
    file = environment.get("HF_TOKEN_PATH")
    path = Path(file).expanduser() if file else hub_home(environment) / "token"
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip() or None
    return None


def hub_is_offline(environment: Mapping[str, str]) -> bool:
    return environment.get("HF_HUB_OFFLINE", "").upper() in _YES


def is_repo(name: str) -> bool:
    return _REPO.fullmatch(name) is not None


def check_repo(name: str) -> None:
    """Raise UserError unless ``name`` has the form owner/name."""
    if not is_repo(name):
        raise UserError(f"'{name}' is not a repository id: write it as owner/name")


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload to the hub. ``files`` maps paths in the repository to contents; ``removed`` lists paths to delete."""

    repo: str
    kind: Literal["dataset", "model"]
    files: Mapping[str, Path | bytes]
    removed: tuple[str, ...] = ()
    url: str = ""
    commit: str = ""

    def sizes(self) -> dict[str, int]:
        return {
            name: len(file) if isinstance(file, bytes) else file.stat().st_size
            for name, file in self.files.items()
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "repo": self.repo,
            "files": self.sizes(),
            "removed": list(self.removed),
            "url": self.url,
            "commit": self.commit,
        }


def upload(
    planned: Upload,
    message: str,
    *,
    private: bool,
    replaces: Callable[[str], bool],
    environment: Mapping[str, str],
    progress: Progress,
) -> Upload:
    """Upload files to the hub in one commit; return ``planned`` with the commit. Creates the repository if necessary.

    Also deletes existing files for which ``replaces`` is true. Raises UserError if there is no token, or if the hub
    refuses the token, the repository's name or the card; ServiceError if the hub fails.
    """
    import huggingface_hub as library
    from huggingface_hub import errors

    if hub_is_offline(environment):
        raise UserError("HF_HUB_OFFLINE is set: unset it to push to the hub")
    repo, kind = planned.repo, planned.kind
    endpoint, token = hub_address(environment).rstrip("/"), hub_token(environment)
    if not token:
        raise UserError(
            "no token: set HF_TOKEN to a token with write access (https://huggingface.co/settings/tokens), "
            "or log in with: hf auth login"
        )
    broken: tuple[type[Exception], ...] = (errors.HfHubHTTPError, *broken_library())
    anything: tuple[type[Exception], ...] = (ValueError, *broken)
    api: Any = library.HfApi(endpoint=endpoint, token=token)
    progress.message(
        f"pushing {len(planned.files)} files, {sum(planned.sizes().values()) / 1e6:,.1f} MB"
    )
    try:
        api.create_repo(repo, repo_type=kind, private=private, exist_ok=True)
        existing = api.list_repo_files(repo, repo_type=kind)
        removed = tuple(sorted(n for n in existing if replaces(n) and n not in planned.files))
        changes: list[Any] = [library.CommitOperationDelete(path_in_repo=name) for name in removed]
        for name, file in planned.files.items():
            body = file if isinstance(file, bytes) else str(file)
            changes.append(library.CommitOperationAdd(path_in_repo=name, path_or_fileobj=body))
        done = api.create_commit(repo, changes, commit_message=message, repo_type=kind)
    except anything as error:
        # the library may raise another error while it handles a refusal, its context
        if {_status(error), _status(error.__context__)} & {401, 403}:
            raise UserError(
                f"the hub refuses the push to {repo} (HTTP {_status(error) or _status(error.__context__)}): HF_TOKEN "
                "must be a token of the repository's owner with write access"
            ) from error
        if isinstance(error, ValueError) and not isinstance(error, (*broken, json.JSONDecodeError)):
            # invalid front matter of the card, or a name that the hub forbids
            reason = " ".join(str(error).split())[:300]
            raise UserError(f"the hub rejects the push to {repo}: {reason}") from error
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise ServiceError(f"the push to {repo} failed ({first[:200]}): try again") from error
    url = f"{endpoint}/{_PAGES[kind]}{repo}"
    return replace(planned, removed=removed, url=url, commit=str(done.oid))


def _status(error: BaseException | None) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return int(status) if status is not None else None


def http_error() -> type[Exception]:
    """Return the base class of huggingface_hub's HTTP errors."""
    from huggingface_hub.errors import HfHubHTTPError

    base: type[Exception] = HfHubHTTPError.__mro__[1]
    return base


def broken_library() -> tuple[type[Exception], ...]:
    """Return the exceptions that huggingface_hub raises for broken connections and invalid responses."""
    return (
        http_error(),
        OSError,
        RuntimeError,
        LookupError,
        TypeError,
        AttributeError,
        json.JSONDecodeError,
    )
