"""Which engine a run takes that names none: OpenRLHF where its stack and several GPUs are, else the local one.

Leaves out: whether the machine is set up well (``prorl doctor --engine openrlhf``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prorl_common import MissingExtraError, UserError, pip_install
from prorl_training.config import TrainConfig

OVERRIDE = "--engine local overrides"


@dataclass(frozen=True, slots=True)
class Machine:
    """What the choice depends on: the GPUs that torch sees, and why OpenRLHF's stack will not do ("": it will)."""

    gpus: int
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Settings to lay over those that were asked for, and what to say of it ("": nothing)."""

    settings: tuple[str, ...] = ()
    said: str = ""


def look() -> Machine:
    """Look at this machine; nothing of the stack is imported, torch only to count GPUs."""
    from prorl_training.engine.openrlhf.launch.requirements import visible_gpus
    from prorl_training.engine.openrlhf.versions import require_stack

    try:
        require_stack()
    except (MissingExtraError, UserError) as error:
        return Machine(len(visible_gpus()), str(error))
    return Machine(len(visible_gpus()))


def pick_engine(
    load: Callable[[Sequence[str]], TrainConfig], machine: Callable[[], Machine] = look
) -> Choice:
    """Return the engine for a run that names none.

    ``load`` gives the run's config with further settings. OpenRLHF takes the GPUs that the config names, else as many
    of the machine's as the batch divides among; one GPU, or a config that names its device or that OpenRLHF cannot
    do, stays local.
    """
    from prorl_training.engine.openrlhf.launch.understood import unsupported

    plain = load(())
    if plain.model.device not in ("auto", "cuda") or any(stage.engine for stage in plain.stages):
        return Choice()
    here = machine()
    if here.gpus < 2:
        return Choice()
    if here.missing:
        cure = pip_install("prorl[openrlhf]")
        return Choice((), f"local, on one of {here.gpus} GPUs; for all of them {cure}")
    reasons: list[str] = []
    named = _gpus(plain) != _gpus(TrainConfig())
    for gpus in (here.gpus,) if named else range(here.gpus, 1, -1):
        settings = ("engine=openrlhf", *(() if named else (f"openrlhf.gpus_per_node={gpus}",)))
        reasons = unsupported(load(settings), "cuda")
        if not reasons:
            count = f"{gpus} GPUs" if gpus == here.gpus else f"{gpus} of {here.gpus} GPUs"
            return Choice(settings, f"openrlhf, as its stack and {count} are here; {OVERRIDE}")
    return Choice((), f"local, on one of {here.gpus} GPUs; openrlhf cannot do {reasons[0]}")


def _gpus(config: TrainConfig) -> tuple[int, int]:
    return config.openrlhf.nodes, config.openrlhf.gpus_per_node
