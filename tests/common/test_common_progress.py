"""Plain progress is one line with count, facts and the time left."""

from __future__ import annotations

import io

from prorl_common import PlainProgress


def test_each_line_holds_count_facts_and_eta() -> None:
    stream = io.StringIO()
    progress = PlainProgress(every_seconds=0.0, stream=stream)
    progress.start("train", 4)
    progress.advance(1, reward="0.5")
    progress.message("a decision")
    progress.finish()
    first, message, last = stream.getvalue().splitlines()
    assert first.startswith("train: 1/4 · reward 0.5 · ETA ")
    assert message == "a decision"
    assert last.startswith("train: 1/4")
