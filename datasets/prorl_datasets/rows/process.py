"""The child process of a build: JSON requests in on stdin, one JSON reply a request on stdout.

A process of its own because generating is CPU work, and because four reasoning-gym tasks depend on
the hash seed of the interpreter (isomorphic_strings, polynomial_multiplication, ransom_note,
word_ladder) and one reseeds numpy's global generator; the parent starts it with PYTHONHASHSEED=0.
Requests: {"recipe", "seed", "index", "taken"} sets up; {"check"}, {"generate"} and {"rows"} work.
Leaves out: scoring.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.maker import RowMaker
from prorl_datasets.sources import rg_entries
from prorl_datasets.sources.readers import long_integers


def main() -> None:
    """Answer requests until stdin closes. Prints of libraries go to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    maker: RowMaker | None = None
    made: dict[str, Any] = {}
    for line in sys.stdin:
        with long_integers():  # tests of published code sets hold them; adapters leave them out
            request = json.loads(line)
        if "recipe" in request:
            index = None
            if request["index"] is not None:
                from prorl_datasets.text.index import BenchmarkIndex

                index = BenchmarkIndex.load(Path(request["index"]))
            taken: dict[str, tuple[str, str]] = {}
            if request["taken"] is not None:
                for entry in Path(request["taken"]).read_text(encoding="utf-8").splitlines():
                    key, benchmark, item = entry.split(" ")
                    taken[key] = (benchmark, item)
            recipe = Recipe.model_validate(request["recipe"])
            maker = RowMaker(recipe, request["seed"], index, taken)
            reply: Any = {"ready": True}
        elif "check" in request:
            reply = [m for t, c in request["check"] for m in rg_entries.mistakes(t, c)]
        elif "entries" in request:
            task, config, seeds = request["entries"]
            reply = [rg_entries.reply(made, task, config, seed) for seed in seeds]
        else:
            assert maker is not None
            try:
                if "generate" in request:
                    reply = {"candidates": maker.generate(*request["generate"])}
                else:
                    reply = {"candidates": maker.convert(*request["rows"])}
            except UserError as error:
                reply = {"user_error": str(error)}
        out.write(json.dumps(reply, default=rg_entries.plain) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
