"""The process of one stage: reads the place from stdin, runs the stage, writes its finding as JSON.

    python -m prorl_cli.prove.stage_process STAGE ANSWER

A mistake of the user (a model that is not there) is a finding; anything else that is raised is a traceback. Ends with
the command that started it, and all it has started itself with it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from prorl_cli.prove.stage import Finding, Place
from prorl_cli.prove.stages import STAGES
from prorl_common import ProrlError, atomic_write_text
from prorl_training.engine.openrlhf.launch.process import die_with_parent


def main() -> None:
    """Run the stage that the command line names."""
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    die_with_parent()
    name, answer = sys.argv[1:]
    stage = next(stage for stage in STAGES if stage.name == name)
    place = Place.from_json(json.load(sys.stdin))
    try:
        found = stage.run(place)
    except ProrlError as error:
        found = Finding(False, str(error))
    atomic_write_text(Path(answer), json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
