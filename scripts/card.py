"""Perform the runs that need a GPU, in calls of at most ten minutes and uploads of at most 64 MB.

    python scripts/card.py split FILE ... --parts DIR   # here: cut files (wheels, a model's archive) into parts
    python scripts/card.py plan --results DIR [--parts DIR]  # here: the calls that are left, one JSON object a line
    python scripts/card.py call NAME --out DIR [--dry]  # on the card: one call; results go to DIR/NAME
    python scripts/card.py join PART ...                # on the card: write parts into place, in any order

Copy each call's output below --results and ask for the plan again: finished calls are left out, and a training run is
continued until it ends itself, because its validation stalls, or has all its steps. Its checkpoints stay on the card.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PART_BYTES = 60_000_000
CARRIED = Path("carried")
"""Folder on the card in which parts are joined. ``prorl.tar`` holds the model cache (tar -cf prorl.tar -C ~/.cache prorl)."""
SECONDS = 560
"""Time of one call, below ten minutes."""
TRAIN_SECONDS = 480
"""Time after which a training call is interrupted, so that it finishes its step and saves."""
SEEDS, STEPS = (1, 2, 3), 3000
PRORL = (sys.executable, "-m", "prorl_cli")
DOCTOR = ("doctor", "--gpu", "--minutes", "9", "--json")
LEARN = (
    *("--preset", "cpu", "--data", "data/card", "--steps", str(STEPS), "--device", "cuda"),
    *(
        "--set",
        "rollout.prompts=32",
        "--set",
        "rollout.samples=16",
        "--set",
        "rollout.batch_rows=512",
    ),
    *("--set", "loss.pack_tokens=16384", "--set", "validation.every=20"),
    *("--set", "validation.problems=200", "--set", "controller.on_stall=[end]"),
)
"""SmolLM2-135M on the recipe ``small``: the run ends at a stall, that is when its curve has bent."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on the card. ``carry`` are files to upload with it."""

    name: str
    command: str
    carry: tuple[str, ...] = ()


def stages(*names: str, size: str = "1.5b") -> list[str]:
    return [*PRORL, *DOCTOR, "--size", size, *(word for n in names for word in ("--stage", n))]


def commands() -> dict[str, list[str]]:
    """Return the command of each call by name, in order."""
    trainer = [sys.executable, "benchmarks/trainer.py", "--device", "cuda", "--dtype", "bf16"]
    trainer += [
        "--tokens",
        "512",
        "--pack-tokens",
        "16384",
        "--steps",
        "5",
        "--json",
        "OUT/table.json",
    ]
    if not Path(".venv-trainers/trl/bin/python").is_file():
        trainer.append("--alone")
    calls = {
        "doctor-steps": stages("device", "model", "update", "transformers"),
        "doctor-vllm": stages("device", "model", "vllm"),
        "doctor-run": stages("device", "data", "run", "evaluation"),
        "trainer": trainer,
        "step-0.6b-16k": stages("device", "model", "update", size="0.6b"),
        "data": [*PRORL, "data", "build", "--recipe", "small", "--out", "data/card"],
    }
    for seed in SEEDS:
        run = f"card-{seed}"
        begun = Path("runs", run, "config.yaml").is_file()
        how = ["--resume", run] if begun else [*LEARN, "--set", f"seed={seed}", "--name", run]
        limit = ["timeout", "--signal=INT", f"--kill-after={SECONDS - TRAIN_SECONDS}"]
        calls[f"train-{seed}"] = [*limit, str(TRAIN_SECONDS), *PRORL, "train", *how]
    return calls


def is_done(name: str, results: Path) -> bool:
    """Return whether a call has succeeded; a training run also must have ended."""
    code = results / name / "exit_code"
    if not code.is_file():
        return False
    if not name.startswith("train-"):
        return code.read_text() in ("0", "2")  # a problem found by the doctor is a result
    decisions, metrics = (results / name / f for f in ("decisions.jsonl", "metrics.jsonl"))
    ended = decisions.is_file() and '"run_ended"' in decisions.read_text("utf-8")
    rows = metrics.read_text("utf-8").splitlines() if metrics.is_file() else []
    return ended or (bool(rows) and json.loads(rows[-1])["step"] >= STEPS)


def plan(results: Path, parts: Path | None) -> Iterator[Call]:
    """Yield the calls that are left: first the parts, each in a call of its own."""
    for part in sorted(parts.iterdir()) if parts is not None else []:
        if not (results / part.name / "exit_code").is_file():
            path = f"{parts}/{part.name}"
            yield Call(part.name, f"python scripts/card.py join {path} --out $OUT", (path,))
    for name in commands():
        if not is_done(name, results):
            yield Call(name, f"python scripts/card.py call {name} --out $OUT")


def unpacked() -> dict[str, str]:
    """Unpack archives that were carried, and return an environment with the model cache that one of them held."""
    for archive in CARRIED.glob("*.tar"):
        shutil.unpack_archive(archive, CARRIED, filter="data")
        archive.unlink()
    cache = CARRIED.resolve() / "prorl"
    return os.environ | ({"PRORL_CACHE": str(cache)} if cache.is_dir() else {})


def call(name: str, out: Path, dry: bool) -> int:
    """Run a call and write its output, exit code and, for a training run, its records."""
    folder = out / name
    words = [word.replace("OUT/", f"{folder}/") for word in commands()[name]]
    if dry:
        print(" ".join(words))
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stdout").open("w") as stdout, (folder / "stderr").open("w") as stderr:
        try:
            code = subprocess.run(
                words, check=False, env=unpacked(), stdout=stdout, stderr=stderr, timeout=SECONDS
            ).returncode
        except subprocess.TimeoutExpired:
            code = 124
    (folder / "exit_code").write_text(str(code))
    if name.startswith("train-"):
        for file in ("config.yaml", "metrics.jsonl", "decisions.jsonl"):
            source = Path("runs", f"card-{name.removeprefix('train-')}", file)
            if source.is_file():
                shutil.copy(source, folder)
    print((folder / "stderr").read_text()[-2000:], f"exit code {code}", sep="\n")
    return code


def split(files: Sequence[Path], parts: Path) -> None:
    """Write each file as parts named FILE.NUMBER."""
    parts.mkdir(parents=True, exist_ok=True)
    for file in files:
        with file.open("rb") as source:
            for number, block in enumerate(iter(lambda: source.read(PART_BYTES), b"")):
                (parts / f"{file.name}.{number:03d}").write_bytes(block)


def join(parts: Sequence[Path], out: Path) -> None:
    """Write parts at their places in their files under ``CARRIED``."""
    CARRIED.mkdir(exist_ok=True)
    for part in parts:
        name, _, number = part.name.rpartition(".")
        target = CARRIED / name
        target.touch()
        with target.open("r+b") as file:
            file.seek(int(number) * PART_BYTES)
            file.write(part.read_bytes())
        (out / part.name).mkdir(parents=True, exist_ok=True)
        (out / part.name / "exit_code").write_text("0")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description="Runs that need a GPU, in calls of ten minutes")
    parser.add_argument("action", choices=["plan", "call", "split", "join"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--results", type=Path, default=Path("card"))
    parser.add_argument("--parts", type=Path)
    parser.add_argument("--out", type=Path, default=Path("card"))
    parser.add_argument("--dry", action="store_true", help="print the command only")
    args = parser.parse_args()
    match args.action:
        case "plan":
            for one in plan(args.results, args.parts):
                print(json.dumps(asdict(one)))
        case "call":
            raise SystemExit(call(args.names[0], args.out, args.dry))
        case "split":
            split([Path(name) for name in args.names], args.parts or Path("parts"))
        case "join":
            join([Path(name) for name in args.names], args.out)


if __name__ == "__main__":
    main()
