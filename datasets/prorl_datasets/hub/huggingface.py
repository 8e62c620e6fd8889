"""A hub as ``access`` needs it, and the one through huggingface_hub, its many errors in half a line each.

Settings are read when a source is resolved, not when the library was first imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from prorl_common import MissingExtraError

HUB = "https://huggingface.co"
TIMEOUT_SECONDS = 15.0
_YES = ("1", "ON", "YES", "TRUE")


class Unreachable(Exception):
    """Why a source gave no files: a half line, without the repository's name and the cure."""


class Hub(Protocol):
    """The little of a hub that is needed; both methods raise Unreachable."""

    def listing(self, repo: str, revision: str, kind: str) -> tuple[str, list[str]]:
        """Return (commit, names of all files at it)."""
        ...

    def download(self, repo: str, commit: str, name: str, kind: str) -> Path:
        """Return where the file now lies on this machine."""
        ...


class HuggingFaceHub:
    """The hub at HF_ENDPOINT. With HF_HUB_OFFLINE only what is already in the cache is found."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._endpoint = (environment.get("HF_ENDPOINT") or HUB).rstrip("/")
        self._offline = environment.get("HF_HUB_OFFLINE", "").upper() in _YES
        self._token = environment.get("HF_TOKEN") or None

    def listing(self, repo: str, revision: str, kind: str) -> tuple[str, list[str]]:
        """Return (commit, names of all files at it). Raises Unreachable, MissingExtraError."""
        library = _library()
        if self._offline:
            folder = self._cached(library, repo, revision, kind)
            names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
            return folder.name, sorted(names)
        with self._explained(repo, revision):
            api = library.HfApi(endpoint=self._endpoint, token=self._token)
            info = api.repo_info(repo, revision=revision, repo_type=kind, timeout=TIMEOUT_SECONDS)
            return str(info.sha), [str(file.rfilename) for file in info.siblings or ()]

    def download(self, repo: str, commit: str, name: str, kind: str) -> Path:
        """Return the file's place in the cache, fetched when it is not there. Raises Unreachable."""
        library = _library()
        with self._explained(repo, commit):
            return Path(
                library.hf_hub_download(
                    repo, name, repo_type=kind, revision=commit, endpoint=self._endpoint,
                    token=self._token, local_files_only=self._offline,
                )
            )  # fmt: skip

    def _cached(self, library: Any, repo: str, revision: str, kind: str) -> Path:
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

        try:
            return Path(
                library.snapshot_download(
                    repo, repo_type=kind, revision=revision, local_files_only=True
                )
            )
        except (LocalEntryNotFoundError, HFValidationError) as error:
            raise Unreachable(
                f"HF_HUB_OFFLINE is set and revision {revision} is not in the hub's cache"
            ) from error

    @contextmanager
    def _explained(self, repo: str, revision: str) -> Iterator[None]:
        """Turn the library's errors into Unreachable."""
        from huggingface_hub import errors

        transport: tuple[type[Exception], ...] = (OSError,)
        with suppress(
            ImportError
        ):  # the library's newer versions speak through httpx, whose errors are none
            import httpx

            transport = (OSError, httpx.HTTPError)
        try:
            yield
        except errors.GatedRepoError as error:
            raise Unreachable(
                f"this repository is gated: accept its terms at {self._endpoint}/datasets/{repo} "
                "and set HF_TOKEN"
            ) from error
        except errors.RevisionNotFoundError as error:
            raise Unreachable(f"it has no revision '{revision}' at {self._endpoint}") from error
        except errors.RepositoryNotFoundError as error:
            raise Unreachable(
                f"{self._endpoint} has no such repository, or it is private and HF_TOKEN does not "
                "open it"
            ) from error
        except errors.HfHubHTTPError as error:
            raise Unreachable(self._by_status(error, repo)) from error
        except errors.HFValidationError as error:
            raise Unreachable(f"not a repository's name ({_first(error)})") from error
        except transport as error:
            raise Unreachable(
                f"the hub at {self._endpoint} is not reachable ({_first(error)})"
            ) from error

    def _by_status(self, error: Any, repo: str) -> str:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 403):
            return (
                f"the hub refuses it (HTTP {status}): it is gated or private; accept its terms at "
                f"{self._endpoint}/datasets/{repo} and set HF_TOKEN"
            )
        return f"{self._endpoint} answered HTTP {status or _first(error)}"


def _library() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError("hub", "huggingface_hub") from error
    return huggingface_hub


def _first(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0][:200] if lines and lines[0] else type(error).__name__
