"""Plan and push the files of a model repository."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from prorl_common import Progress, UserError
from prorl_common.config import write_yaml
from prorl_common.hub import Upload, check_repo, upload
from prorl_common.private import Private
from prorl_training.publishing.card import Evaluation, model_card
from prorl_training.publishing.facts import Facts
from prorl_training.run.lineage import FILE as LINEAGE

WEIGHTS = ("*.safetensors", "*.safetensors.index.json")
MODEL_FILES = (
    *WEIGHTS,
    *("config.json", "generation_config.json", "*processor_config.json", "*.jinja"),
    *("tokenizer*.json", "*.model", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "vocab.txt", "merges.txt", "LICENSE*", "NOTICE*"),
)
"""Names of the model files to publish."""
OPAQUE = ("*.safetensors", "*.model", "tokenizer.json", "vocab.*", "merges.txt")
"""Files that are not searched for tokens, because any word may occur in them."""
PLACES = ("_name_or_path", "name_or_path", "is_local", "local_files_only")
"""Keys with the source folder that Transformers writes into a model's JSON."""


def plan_push(repo: str, facts: Facts, evaluation: Evaluation, private: Private) -> Upload:
    """Return the upload of a model to ``repo`` (owner/name).

    Raises UserError for an invalid name, and for a model file that is unreadable or contains a token.
    """
    check_repo(repo)
    files: dict[str, Path | bytes] = {}
    for path in sorted(p for p in facts.folder.iterdir() if p.is_file()):
        if any(fnmatch(path.name, pattern) for pattern in MODEL_FILES):
            files[path.name] = _file(path, private)
    if facts.lineage is not None:
        files[LINEAGE] = _json(facts.lineage)
    if (run := facts.training) is not None:
        files["training/config.yaml"] = write_yaml(run.config).encode()
        files["training/decisions.jsonl"] = _lines(run.decisions)
        files["training/metrics.jsonl"] = _lines(run.metrics)
        files["training/identity.json"] = _json(run.identity)
    files |= evaluation.files
    files["README.md"] = model_card(repo, facts, evaluation, sorted(files)).encode()
    return Upload(repo, "model", dict(sorted(files.items())))


def push(
    planned: Upload, facts: Facts, private: bool, environment: Mapping[str, str], progress: Progress
) -> Upload:
    """Upload a planned model in one commit, creating the repository if needed."""
    after = f", {facts.lineage['run']} after step {facts.lineage['step']}" if facts.lineage else ""
    return upload(
        planned,
        f"model{after}, published with prorl",
        private=private,
        replaces=lambda name: (
            any(fnmatch(name, pattern) for pattern in WEIGHTS)
            or name.startswith(("training/", "evaluation/"))
            or name == LINEAGE
        ),
        environment=environment,
        progress=progress,
    )


def _file(path: Path, private: Private) -> Path | bytes:
    if any(fnmatch(path.name, pattern) for pattern in OPAQUE):
        return path
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: save the model again") from error
    if private.holds_secret(text):
        raise UserError(f"{path} seems to contain a secret token: remove it, then push again")
    if not path.name.endswith("config.json"):
        return path
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UserError(f"{path} is not JSON: save the model again") from error
    if not isinstance(values, dict) or not any(name in values for name in PLACES):
        return path
    return _json({k: v for k, v in values.items() if k not in PLACES})


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
