"""Runs the stages of a proof one after the other, each in a process of its own, and keeps what they found.

A stage that has passed is not run again: the folder holds a JSON file for each. A stage that crashes, runs out of memory or
takes too long is a failed stage, and the next one begins. Leaves out: the stages, and how it is shown.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from prorl_cli.prove.stage import Finding, Place, Result, Stage
from prorl_common import atomic_write_text, format_seconds

PROOF = "proof.json"
ROWS = "status.md"
LAST_WORDS = 600
"""Characters of what a crashed stage said last that are kept."""
PATIENCE, LEAST_LIMIT = 4, 300
"""A stage is killed after so many times its minutes, but not before so many seconds."""

Runner = Callable[[Stage, Place], Finding]


def prove(
    stages: Sequence[Stage],
    place: Place,
    chosen: Collection[str] | None = None,
    again: bool = False,
    run: Runner | None = None,
    clock: Callable[[], float] = time.monotonic,
    started: Callable[[Stage], None] = lambda stage: None,
) -> Iterator[Result]:
    """Yield the result of each stage, in order, and write ``proof.json`` and the rows for docs/status after each.

    ``chosen`` names those that run (None: all), ``again``: also where they have passed; what the others found before
    stays in the proof. ``place.seconds`` are for all together. ``started`` is called when one begins.
    """
    place.folder.mkdir(parents=True, exist_ok=True)
    end = clock() + place.seconds
    results: list[Result] = []
    for stage in stages:
        asked, result = chosen is None or stage.name in chosen, _kept(stage, place)
        if asked and (again or result is None or result.status != "pass"):
            left = replace(place, seconds=end - clock())
            result = _try(stage, left, results, run, started)
            atomic_write_text(_file(stage, place), json.dumps(asdict(result), indent=1) + "\n")
        if result is None:
            continue
        results.append(result)
        atomic_write_text(place.folder / PROOF, json.dumps(proof_json(results, place), indent=1))
        atomic_write_text(place.folder / ROWS, status_rows(stages, results, place))
        if asked:
            yield result


def _try(
    stage: Stage,
    place: Place,
    before: Sequence[Result],
    run: Runner | None,
    started: Callable[[Stage], None],
) -> Result:
    passed = {r.stage for r in before if r.status == "pass"}
    missing = [name for name in stage.after if name not in passed]
    why = f"needs stage {missing[0]}, which has not passed" if missing else stage.needs(place)
    if not why and place.seconds < (stage.minutes * 60 if place.on_gpu else 1):
        why = f"needs {stage.minutes:g} minutes, and the time is up: give the same command again"
    if why:
        return Result(stage.name, "needs", why, made_with=made_with(place))
    started(stage)
    began = time.monotonic()
    limit = max(LEAST_LIMIT, PATIENCE * stage.minutes * 60)
    found = (run or in_own_process)(stage, replace(place, seconds=min(place.seconds, limit)))
    return Result(
        stage.name,
        "pass" if found.passed else "fail",
        found.said,
        round(time.monotonic() - began, 2),
        found.figures,
        found.ratios,
        found.card,
        made_with(place),
    )


def in_own_process(stage: Stage, place: Place) -> Finding:
    """Run the stage in a new process and session, which is killed with all it has started when its time is up."""
    answer, log = (
        place.folder / f".{stage.name}.answer.json",
        place.folder / f"{stage.name}.log",
    )
    answer.unlink(missing_ok=True)
    command = [sys.executable, "-m", "prorl_cli.prove.stage_process", stage.name, str(answer)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            process.communicate(json.dumps(place.to_json()).encode(), timeout=place.seconds)
        except subprocess.TimeoutExpired:
            return Finding(False, f"not done within {format_seconds(place.seconds)}; see {log}")
        finally:
            _end(process)
    if process.returncode == 0 and answer.exists():
        found = Finding(**json.loads(answer.read_text("utf-8")))
        answer.unlink()
        return found
    words = " ".join(log.read_text("utf-8", errors="replace").split())[-LAST_WORDS:]
    how = (
        f"signal {-process.returncode}"
        if process.returncode < 0
        else f"exit code {process.returncode}"
    )
    return Finding(False, f"crashed ({how}); see {log}: {words}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the stage's session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def made_with(place: Place) -> dict[str, Any]:
    """Return what a result depends on beside the stage."""
    from importlib.metadata import version

    model = "tiny" if place.tiny else str(place.model)
    return {"prorl": version("prorl"), "device": place.device_name, "model": model}


def _file(stage: Stage, place: Place) -> Path:
    return place.folder / f"{stage.name}.json"


def _kept(stage: Stage, place: Place) -> Result | None:
    """Return the stage's result of before, where it was made with the same version, device and model."""
    try:
        values = json.loads(_file(stage, place).read_text("utf-8"))
        result = Result(**values)
    except (FileNotFoundError, ValueError, TypeError):  # none, or not whole
        return None
    return result if result.made_with == made_with(place) else None


def proof_json(results: Sequence[Result], place: Place) -> dict[str, Any]:
    """Return the whole proof: what it was made with, the measured card and ratios, every stage."""
    ratios: dict[str, float] = {}
    card: Mapping[str, Any] | None = None
    for result in results:
        if result.status == "pass":
            ratios |= result.ratios
            card = result.card or card
    shown = [
        {k: v for k, v in asdict(r).items() if k not in ("ratios", "card", "made_with")}
        for r in results
    ]
    made = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    return {**made_with(place), "made": made, "card": card, "ratios": ratios, "stages": shown}


def status_rows(stages: Sequence[Stage], results: Sequence[Result], place: Place) -> str:
    """Return the table for docs/status.md."""
    titles = {stage.name: stage.title for stage in stages}
    head = (
        f"On {place.device_name}, {made_with(place)['model']}, prorl {made_with(place)['prorl']}:"
    )
    lines = [head, "", "| stage | result | found |", "|---|---|---|"]
    for r in results:
        said = r.said.replace("|", "\\|")
        took = f" ({format_seconds(r.seconds)})" if r.seconds else ""
        lines.append(f"| {titles[r.stage]} | {r.status}{took} | {said} |")
    return "\n".join(lines) + "\n"
