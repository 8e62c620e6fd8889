"""Child process that samples on one device. It reads JSON lines on stdin and writes answers to stdout.

- {"open": {path, backend, dtype, batch_rows, device}} is answered with {"ready": true}.
- {"requests": [{prompt, seeds}], "params": {...}} is answered with {"done": n} and {"result": i, "completions": [...]},
  and finally {"ended": true}.

A UserError is sent as {"user_error": line}. Other errors end the process.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_inference.spec import BACKENDS, BackendOptions
from prorl_inference.types import Completion, Generator, Request, SamplingParams


def main() -> None:
    """Answer requests until stdin closes."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    incoming: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            incoming.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()

    def send(row: dict[str, Any]) -> None:
        out.write(json.dumps(row) + "\n")
        out.flush()

    def send_result(index: int, completions: list[Completion]) -> None:
        rows = [
            {
                "text": completion.text,
                "token_ids": completion.token_ids,
                "logprobs": completion.logprobs,
                "rest": [completion.finish_reason, completion.note],
            }
            for completion in completions
        ]
        send({"result": index, "completions": rows})

    generator: Generator | None = None
    while True:
        request = incoming.get()
        try:
            if "open" in request:
                o = request["open"]
                options = BackendOptions(
                    Path(o["path"]), o["device"], o["dtype"], batch_rows=o["batch_rows"]
                )
                generator = BACKENDS.get(o["backend"]).open(options)
                send({"ready": True})
            else:
                assert generator is not None
                requests = [Request(r["prompt"], tuple(r["seeds"])) for r in request["requests"]]
                generator.generate(
                    requests,
                    SamplingParams(**request["params"]),
                    lambda count: send({"done": count}),
                    send_result,
                )
                send({"ended": True})
        except UserError as error:
            send({"user_error": str(error)})


if __name__ == "__main__":
    main()
