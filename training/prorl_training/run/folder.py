"""The folder of one run.

Journals are synced to disk only before checkpoints, because a resumed run repeats later steps.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from prorl_common import DiskFullError, Journal, UserError, atomic_write_text, check_output, nearest
from prorl_common.config import read_config_file
from prorl_common.files import explain_write_errors
from prorl_common.rollout_files import rollout_files
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_saved_config, save_config
from prorl_training.types import Decision

RUNS = Path("runs")


class ResumeError(UserError):
    """A run cannot be resumed as requested."""


class RunFolder:
    """Paths and journals of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_path = path / "config.yaml"
        self.identity_path = path / "identity.json"
        self.metrics_path = path / "metrics.jsonl"
        self.decisions_path = path / "decisions.jsonl"
        self.checkpoints = path / "checkpoints"
        self.rollouts = path / "rollouts"
        self.lock_path = path / "run.lock"
        self.ended_path = path / "ended.json"
        self._journals: set[Path] = set()
        self._locked: TextIO | None = None

    @property
    def name(self) -> str:
        return self.path.name

    def create(self, config: TrainConfig, identity: Mapping[str, Any] | None = None) -> None:
        """Write config and ``identity`` (of ``resume.run_identity``) into a new folder. Never overwrites a run."""
        self.check_exists()
        self.check_new()
        if identity is not None:
            atomic_write_text(self.identity_path, json.dumps(identity, indent=1))
        save_config(config, self.config_path)

    def check_new(self) -> None:
        """Raise UserError if the folder already holds a run or is not writable."""
        check_output(self.path, folder=True)
        if self.config_path.exists():
            raise UserError(
                f"{self.path} already holds a run: continue it with --resume {self.name}, "
                "or choose another --name"
            )

    def config(self) -> TrainConfig:
        if not self.config_path.is_file():
            raise UserError(f"{self.path} is not a run: it has no config.yaml")
        return load_saved_config(self.config_path)

    def identity(self) -> dict[str, Any] | None:
        if not self.identity_path.is_file():
            return None
        identity: dict[str, Any] = json.loads(self.identity_path.read_text(encoding="utf-8"))
        return identity

    def replace_config(self, config: TrainConfig, step: int) -> None:
        """Write a config that changed after ``step``. The old config is kept as ``config.<step>.yaml``."""
        old, number = self.path / f"config.{step}.yaml", 1
        while old.exists():
            number += 1
            old = self.path / f"config.{step}.{number}.yaml"
        atomic_write_text(old, self.config_path.read_text(encoding="utf-8"))
        save_config(config, self.config_path)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the run's write lock inside the block, then write ``ended.json``, which says how the run ended.

        Raises UserError if another process holds the lock. A folder without a config is removed afterwards.
        """
        with explain_write_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            file = self.lock_path.open("a+")
        with file:
            self._acquire(file)
            before = self.ended_path.read_text(encoding="utf-8") if self.ended_path.exists() else ""
            self.ended_path.unlink(missing_ok=True)
            self._locked = file
            try:
                yield
                self._record_end("ended", "")
            except ResumeError:  # nothing was done: restore the previous end
                if before:
                    atomic_write_text(self.ended_path, before)
                raise
            except Exception as error:
                self._record_end("failed", f"{type(error).__name__}: {error}")
                raise
            finally:
                self._locked = None
                self._remove_empty_folder()

    def check_exists(self) -> None:
        """Raise UserError if the folder has been removed since ``lock``."""
        if self._locked is not None and os.fstat(self._locked.fileno()).st_nlink == 0:
            raise UserError(
                f"{self.path} was removed while the run was writing it: nothing of the run "
                "is left, start a new run"
            )

    def _acquire(self, file: TextIO) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise UserError(
                f"run {self.name} is being written by another process "
                f"(pid {file.read().strip() or 'unknown'}): wait for it, or stop it"
            ) from error
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()

    def _remove_empty_folder(self) -> None:
        if self.config_path.exists():
            return
        self.ended_path.unlink(missing_ok=True)
        self.lock_path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def _record_end(self, state: str, reason: str) -> None:
        # a full disk or a missing folder must not hide the error that ended the run
        with contextlib.suppress(UserError, DiskFullError):
            self.check_exists()
            atomic_write_text(self.ended_path, json.dumps({"state": state, "reason": reason}))

    def is_written(self) -> bool:
        if not self.lock_path.is_file():
            return False
        with self.lock_path.open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def truncate_after(self, step: int) -> None:
        """Remove journal lines and rollouts of steps after ``step``, and damaged lines."""
        self._journals.clear()
        for path in (self.metrics_path, self.decisions_path):
            if path.exists():
                remaining = b"".join(
                    line for _, line, row in _lines(path) if row and row["step"] <= step
                )
                if len(remaining) != path.stat().st_size:
                    atomic_write_text(path, remaining.decode())
        for written, path in rollout_files(self.path).items():
            if written > step:
                path.unlink()
        for path in self.rollouts.glob(".step_*.parquet*"):  # half written by a killed process
            path.unlink()

    def metrics(self) -> list[dict[str, Any]]:
        """Return the rows of ``metrics.jsonl``. Raises UserError if a line other than the last is damaged."""
        return _read(self.metrics_path)

    def decisions(self) -> list[dict[str, Any]]:
        """Return the rows of ``decisions.jsonl``. Raises UserError if a line other than the last is damaged."""
        return _read(self.decisions_path)

    def log_decisions(self, decisions: Sequence[Decision]) -> None:
        if decisions:
            self._append(self.decisions_path, [d.to_json() for d in decisions])

    def log_metrics(self, row: Mapping[str, Any]) -> None:
        self._append(self.metrics_path, [row])

    def sync(self) -> None:
        for path in self._journals:
            with path.open("rb") as file:
                os.fsync(file.fileno())

    def _append(self, path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
        self.check_exists()
        if path not in self._journals:
            Journal(path, fsync=False).close()  # drops a torn last line
            self._journals.add(path)
        data = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        with explain_write_errors(path), path.open("ab", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]


def _read(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    damaged = 0
    for number, _, row in _lines(path):
        if damaged:
            raise UserError(
                f"{path}:{damaged}: this line is not a JSON object with a step: fix or remove it"
            )
        if row is None:
            damaged = number
        else:
            rows.append(row)
    return rows


def _lines(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    """Yield (number from 1, bytes, row) for each complete line. The row of a damaged line is None."""
    data = path.read_bytes() if path.exists() else b""
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        if line.strip():
            yield number, line + b"\n", _parse(line)


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    step = row.get("step") if isinstance(row, dict) else None
    return row if isinstance(step, int) and not isinstance(step, bool) else None


def named_run(name: str) -> RunFolder:
    """Return the run ``name`` under runs/. Raises UserError for a path."""
    if name != Path(name).name or not name.strip() or name in ("..", "latest"):
        raise UserError(
            f"'{name}' cannot be the name of a run: use one word without /, and not latest"
        )
    if len(os.fsencode(name)) > 200:
        raise UserError(f"the name of a run may have at most 200 bytes: '{name[:20]}...' is longer")
    return RunFolder(RUNS / name)


def list_runs(root: Path = RUNS) -> list[RunFolder]:
    if not root.is_dir():
        return []
    runs = [RunFolder(p.parent) for p in root.glob("*/config.yaml")]
    return sorted(runs, key=last_written)


def last_written(run: RunFolder) -> float:
    """Return the Unix time of the run's last step, or of its creation."""
    journal = run.metrics_path
    return (journal if journal.exists() else run.config_path).stat().st_mtime


def find_run(name: str | None, root: Path = RUNS) -> RunFolder:
    """Return the run with this name or path, or the newest run for None or ``latest``. Raises UserError."""
    runs = list_runs(root)
    if name is None or name == "latest":
        if not runs:
            raise UserError(f"no runs under {root}/: start one with prorl train")
        return runs[-1]
    for path in (Path(name), root / name):
        if (path / "config.yaml").is_file():
            return RunFolder(path)
    names = [r.name for r in runs]
    raise UserError(f"no run called '{name}'{nearest(name, names)}; see prorl train status")


RunState = Literal["running", "finished", "failed", "stopped"]
"""``failed``: ended by an error or a safety rule; ``stopped``: interrupted or killed."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The status of a run, for ``prorl train status``. ``age_seconds`` is the time since its last step."""

    run: str
    path: str
    state: RunState
    preset: str | None
    step: int
    steps: int | None
    reward_mean: float | None
    validation_reward: float | None
    validation_step: int | None
    last_reset: int | None
    age_seconds: float
    reason: str
    """The reason why the run failed or its config cannot be read, or ""."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def run_status(run: RunFolder, now: float | None = None) -> RunStatus:
    """Return a run's status, even if its files are damaged. ``now`` is a Unix time (default: the current time)."""
    try:
        config = read_config_file(run.config_path)
    except UserError as error:
        config = {}
        trouble = str(error)
    else:
        trouble = ""
    last: dict[str, Any] = next(_backwards(run.metrics_path), {})
    validated = next((r for r in _backwards(run.metrics_path) if "validation_reward" in r), {})
    resets = (r for r in _backwards(run.decisions_path) if r.get("kind") == "reference_reset")
    step, steps = int(last.get("step", 0)), config.get("steps")
    state, reason = run_state(run, step, steps)
    return RunStatus(
        run=run.name,
        path=str(run.path),
        state=state,
        preset=config.get("preset"),
        step=step,
        steps=steps,
        reward_mean=last.get("reward_mean"),
        validation_reward=validated.get("validation_reward"),
        validation_step=validated.get("step"),
        last_reset=next(resets, {}).get("step"),
        age_seconds=round((time.time() if now is None else now) - last_written(run), 1),
        reason=reason or trouble,
    )


def run_state(run: RunFolder, step: int, steps: int | None) -> tuple[RunState, str]:
    """Return a run's state after ``step`` of ``steps`` steps, and the reason if it failed."""
    if run.is_written():
        return "running", ""
    ended: Any = {}
    with contextlib.suppress(FileNotFoundError, ValueError, RecursionError):  # missing or torn
        if run.ended_path.is_file():
            ended = json.loads(run.ended_path.read_text(encoding="utf-8"))
    if isinstance(ended, dict) and ended.get("state") == "failed":
        return "failed", str(ended.get("reason", ""))
    decision: dict[str, Any] = next(_backwards(run.decisions_path), {})
    last = decision.get("kind") if decision.get("step", 0) >= step else None
    if last == "run_stopped":
        return "failed", str(decision.get("reason", ""))
    done = last == "run_ended" or (steps is not None and step >= steps)
    return ("finished" if done else "stopped"), ""


def _backwards(path: Path) -> Iterator[dict[str, Any]]:
    data = path.read_bytes() if path.is_file() else b""
    for line in reversed(data.split(b"\n")[:-1]):
        row = _parse(line)
        if row is not None:
            yield row
