"""Runs the row-making process of a build, which answers requests as JSON frames.

It is a separate process because some reasoning-gym tasks need PYTHONHASHSEED=0 or reseed numpy globally.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.forks import serve_forks
from prorl_common.frames import FrameError, Reader, frame, write
from prorl_datasets.candidate import encode
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.maker import RowMaker
from prorl_datasets.sources import rg_entries
from prorl_datasets.sources.readers import long_integers


def make_rows(order: dict[str, Any], requests: int, replies: int) -> None:
    """Answer requests until the build closes the pipe."""
    os.setsid()  # Linux shares CPU time between sessions
    os.chdir(order["folder"])  # some reasoning-gym tasks run programs that write files
    reader = Reader(requests)
    maker: RowMaker | None = None
    reply: Any
    made: dict[str, Any] = {}
    while True:
        try:
            body = reader.receive_body()
        except FrameError:
            return
        with long_integers():  # published code tests contain long integers, which adapters drop
            request = json.loads(body)
        if "recipe" in request:
            maker, reply = _maker(request), True
        elif "check" in request:
            reply = [m for t, c in request["check"] for m in rg_entries.mistakes(t, c)]
        elif "entries" in request:
            task, config, seeds = request["entries"]
            reply = [rg_entries.reply(made, task, config, seed) for seed in seeds]
        else:
            assert maker is not None
            try:
                if "generate" in request:
                    candidates = maker.generate(*request["generate"])
                else:
                    candidates = maker.convert(*request["rows"])
                reply = {"candidates": [encode(candidate) for candidate in candidates]}
            except UserError as error:
                reply = {"user_error": str(error)}
        write(replies, frame(json.dumps(reply, default=rg_entries.plain).encode()))


def _maker(request: dict[str, Any]) -> RowMaker:
    index = None
    if request["index"] is not None:
        from prorl_datasets.text.index import BenchmarkIndex

        index = BenchmarkIndex.load(Path(request["index"]))
    taken: dict[str, tuple[str, str]] = {}
    if request["taken"] is not None:
        for entry in Path(request["taken"]).read_text(encoding="utf-8").splitlines():
            key, benchmark, item = entry.split(" ")
            taken[key] = (benchmark, item)
    return RowMaker(Recipe.model_validate(request["recipe"]), request["seed"], index, taken)


def main() -> None:
    serve_forks(dict, make_rows)
