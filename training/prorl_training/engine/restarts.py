"""``prorl train --restarts N``: a run whose worker, node or service died starts again from its last checkpoint.

The loop does the steps since then once more, so it ends where it would have ended. What a restart cannot mend
(a mistake of the user's, a bug, a full disk) ends the run as it does without. Leaves out: what a launch leaves
behind on the nodes (``openrlhf.launch.sweep``), and waiting for a node that takes a dead one's place
(``openrlhf.launch.process``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prorl_common import DiskFullError, ServiceError
from prorl_training.run.checkpoint_store import newest_step
from prorl_training.run.folder import RunFolder

if TYPE_CHECKING:
    from prorl_training.engine.local import TrainReport

PAUSE = 10.0
"""Seconds before a restart: Ray needs some to notice what died with a node."""


def train_with_restarts(
    train: Callable[[bool], TrainReport],
    run: RunFolder,
    restarts: int,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> TrainReport:
    """Call ``train(again)`` until it returns, at most ``restarts`` times with ``again`` true.

    Raises what it raises: a ServiceError when no restart is left, at once when the run never came about, and every
    other error at once.
    """
    done = 0
    while True:
        try:
            return train(done > 0)
        except DiskFullError:
            raise
        except ServiceError as error:
            if done == restarts or not run.config_path.is_file():
                raise
            trouble = str(error).partition("\n")[0]
        done += 1
        step = newest_step(run.checkpoints)
        where = "at the beginning" if step is None else f"after step {step}"
        say(f"{trouble}; starting again {where} (restart {done} of {restarts})")
        sleep(PAUSE)
