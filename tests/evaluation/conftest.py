from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

from prorl_datasets import Sample
from prorl_evaluation.testing import FakeScorer, make_samples
from prorl_verifiers import Task


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders of two models with random weights: a base and a trained policy."""
    from prorl_inference.testing import byte_tokenizer, tiny_model

    folders = []
    for seed in (0, 1):
        folder = tmp_path_factory.mktemp("models") / f"tiny{seed}"
        tiny_model(seed, hidden=16, layers=1).save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
        folders.append(folder)
    return folders[0], folders[1]


class Pool(FakeScorer):
    """A fake scorer with the verifier pool's interface."""

    def __init__(self, **_: Any) -> None:
        super().__init__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to free."""

    def require(self, tasks: Iterable[Task]) -> None:
        """Accept all tasks."""


@pytest.fixture
def fake_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Score with the fake pool in all commands."""
    monkeypatch.setattr("prorl_verifiers.VerifierPool", Pool)


def write_dataset(folder: Path, samples: Sequence[Sample]) -> Path:
    """Write ``samples`` as a dataset folder's test split."""
    from prorl_common import sha256_file
    from prorl_datasets.storage import write_split

    folder.mkdir(parents=True)
    rows = [
        {
            "id": s.id,
            "domain": s.domain,
            "split": "test",
            "prompt": [dict(m) for m in s.prompt],
            "verifier": s.task.verifier,
            "reference": s.task.reference_json(),
            "source": s.source,
            "licence": s.licence,
            "gold_check": s.gold_check,
            "metadata": json.dumps(dict(s.metadata)),
        }
        for s in samples
    ]
    file = folder / "test.parquet"
    write_split(file, rows)
    manifest = {"files": {file.name: {"sha256": sha256_file(file)}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def write_run(folder: Path, base: Path, policy: Path | None, step: int = 12) -> Path:
    """Write a run folder as the trainer does, with one checkpoint if ``policy`` is given."""
    folder.mkdir(parents=True)
    config = f"model: {{path: {base}}}\nrollout: {{max_tokens: 6}}\ndata: {{path: elsewhere}}\n"
    (folder / "config.yaml").write_text(config)
    metrics = [{"step": i, "reward_mean": i / 20, "kl": 0.01 * i} for i in range(1, step + 1)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(m) + "\n" for m in metrics))
    if policy is not None:
        checkpoint = folder / "checkpoints" / f"step_{step:06d}"
        checkpoint.mkdir(parents=True)
        (checkpoint / "policy").symlink_to(policy)
        (folder / "checkpoints" / "latest").write_text(f"{checkpoint.name}\n")
    return folder


@pytest.fixture
def workplace(
    tmp_path: Path, tiny_models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A working directory with ``runs/demo`` and ``data/small``."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs" / "demo", *tiny_models)
    write_dataset(tmp_path / "data" / "small", [*make_samples(3), *make_samples(2, "stem")])
    return tmp_path


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset COLUMNS, which pytest's workers set, so that tables are as wide as they need."""
    monkeypatch.delenv("COLUMNS", raising=False)
