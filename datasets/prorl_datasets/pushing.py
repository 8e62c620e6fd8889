"""Push a dataset to the hub in the layout that ``load_dataset`` reads: ``data/<split>-*.parquet``, card, manifest.

Uploads go through huggingface_hub (extra ``hub``), which knows the hub's storage. Leaves out: making a
dataset, and reading one that was pushed (``datasets.load_dataset``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import MissingExtraError, Progress, ServiceError, UserError, sha256_file
from prorl_datasets.hub import CachedHub
from prorl_datasets.storage import MANIFEST, read_manifest
from prorl_datasets.types import SPLITS, DatasetError

CARD = "README.md"
_REPO = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True, slots=True)
class Upload:
    """What goes where. ``files`` gives by the path in the repository what is put there; ``removed`` are
    tables of an earlier push that would be read beside them. ``url`` and ``commit`` are empty for a dry run.
    """

    repo: str
    files: Mapping[str, Path | bytes]
    rows: Mapping[str, int]
    removed: tuple[str, ...] = ()
    url: str = ""
    commit: str = ""

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each file."""
        return {
            name: len(file) if isinstance(file, bytes) else file.stat().st_size
            for name, file in self.files.items()
        }


def plan_push(folder: Path, repo: str) -> Upload:
    """Return what a push of the dataset in ``folder`` to ``repo`` (owner/name) would put there.

    Raises DatasetError: no dataset, files that are not the manifest's, no repository's name.
    """
    if not _REPO.fullmatch(repo):
        raise DatasetError(f"'{repo}' is no repository: write it as owner/name")
    manifest = read_manifest(folder)
    for name, about in manifest["files"].items():
        path = folder / name
        if not path.is_file() or sha256_file(path) != about["sha256"]:
            raise DatasetError(
                f"{path} is not the file the manifest describes; build the dataset again"
            )
    if (failed := manifest.get("failed")) or manifest.get("skipped"):
        missing = ", ".join([*(failed or []), *manifest.get("skipped", [])])
        raise DatasetError(f"{folder} lacks entries of its recipe ({missing}); build them first")
    splits = [split for split in SPLITS if f"{split}.parquet" in manifest["files"]]
    files: dict[str, Path | bytes] = {
        f"data/{split}-00000-of-00001.parquet": folder / f"{split}.parquet" for split in splits
    }
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in {CARD, *(f"{split}.parquet" for split in splits)}:
            files[name] = path
    files[CARD] = _card((folder / CARD).read_text(encoding="utf-8"), repo).encode()
    rows: dict[str, int] = {
        split: int(manifest["files"][f"{split}.parquet"]["rows"]) for split in splits
    }
    assert MANIFEST in files
    return Upload(repo, dict(sorted(files.items())), rows)


def push(
    folder: Path, repo: str, *, private: bool, environment: Mapping[str, str], progress: Progress
) -> Upload:
    """Put the dataset in ``folder`` on the hub as ``repo``, in one commit; make the repository if need be.

    Raises DatasetError as ``plan_push`` does, UserError without a token or where it is refused,
    MissingExtraError, ServiceError where the hub breaks.
    """
    planned = plan_push(folder, repo)
    transport: tuple[type[Exception], ...] = (OSError, RuntimeError, *_transport())
    try:
        import huggingface_hub as library
        from huggingface_hub import errors
    except ImportError as error:
        raise MissingExtraError("hub", "huggingface_hub") from error
    hub = CachedHub(environment, progress)
    if hub.offline:
        raise UserError("HF_HUB_OFFLINE is set: a push needs the hub")
    if not hub.client.token:
        raise UserError(
            "no token: set HF_TOKEN to one that may write (https://huggingface.co/settings/tokens), "
            "or log in with: hf auth login"
        )
    api: Any = library.HfApi(endpoint=hub.client.endpoint, token=hub.client.token)
    progress.message(
        f"pushing {len(planned.files)} files, {sum(planned.sizes().values()) / 1e6:,.1f} MB"
    )
    try:
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        there = api.list_repo_files(repo, repo_type="dataset")
        tables = [name for name in there if name.startswith("data/") and name.endswith(".parquet")]
        removed = tuple(sorted(set(tables) - set(planned.files)))
        changes: list[Any] = [library.CommitOperationDelete(path_in_repo=name) for name in removed]
        for name, file in planned.files.items():
            body = file if isinstance(file, bytes) else str(file)
            changes.append(library.CommitOperationAdd(path_in_repo=name, path_or_fileobj=body))
        rows = sum(planned.rows.values())
        done = api.create_commit(
            repo, changes, commit_message=f"{rows:,} rows, built with prorl", repo_type="dataset"
        )
    except errors.HfHubHTTPError as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if status in (401, 403):
            raise UserError(
                f"the hub refuses the push to {repo} (HTTP {status}): HF_TOKEN must be a token of its "
                "owner that may write"
            ) from error
        raise ServiceError(f"the hub broke off the push to {repo}: {_first(error)}") from error
    except transport as error:
        raise ServiceError(f"the hub broke off the push to {repo}: {_first(error)}") from error
    url = f"{hub.client.endpoint}/datasets/{repo}"
    return Upload(repo, planned.files, planned.rows, removed, url, str(done.oid))


def _card(card: str, repo: str) -> str:
    """Return the card for the hub's layout: where the splits lie, and how to load it."""
    head, mark, text = card.partition("\n---\n")
    for split in SPLITS:
        head = head.replace(f"path: {split}.parquet", f"path: data/{split}-*.parquet")
    return head + mark + text.replace("load_dataset(FOLDER)", f'load_dataset("{repo}")')


def _transport() -> tuple[type[Exception], ...]:
    """Return the errors of the library's transport that are no OSError."""
    try:
        import httpx
    except ImportError:
        return ()
    return (httpx.HTTPError,)


def _first(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0][:200] if lines and lines[0] else type(error).__name__
