"""prorl from Python: check answers, load a dataset, train, evaluate, and say whether anything changed.

    import prorl

    verdict = prorl.verify(r"The answer is \\boxed{1/2}.", prorl.Task("math", {"answer": "0.5"}))
    problems = prorl.load_dataset("data/quickstart", "test")
    report = prorl.train(preset="quickstart", data="data/quickstart", name="mine")
    before, after = prorl.evaluate(run="mine", checkpoints=[0, "latest"], k=4, n=8)
    print(prorl.compare(before, after).find("overall", "pass@1").sentence())

Nothing is loaded before it is used. Everything here lives in a room of its own (``prorl_verifiers``,
``prorl_datasets``, ``prorl_training``, ``prorl_evaluation``), where more of it is; this page only gathers the names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prorl_common import ServiceError, UserError
    from prorl_datasets import Sample
    from prorl_datasets import load as load_dataset
    from prorl_evaluation import Comparison, EvalResult, compare, load_result, pass_at_k
    from prorl_evaluation.sampling.asked import evaluate_models as evaluate
    from prorl_training.engine.local import TrainReport
    from prorl_training.engine.start import train
    from prorl_verifiers import Task, Verdict, VerifierPool, verify

__all__ = [
    "Comparison",
    "EvalResult",
    "Sample",
    "ServiceError",
    "Task",
    "TrainReport",
    "UserError",
    "Verdict",
    "VerifierPool",
    "compare",
    "evaluate",
    "load_dataset",
    "load_result",
    "pass_at_k",
    "train",
    "verify",
]

_HOMES = (
    "prorl_common:ServiceError UserError",
    "prorl_datasets:Sample load_dataset=load",
    "prorl_evaluation:Comparison EvalResult compare load_result pass_at_k",
    "prorl_evaluation.sampling.asked:evaluate=evaluate_models",
    "prorl_training.engine.local:TrainReport",
    "prorl_training.engine.start:train",
    "prorl_verifiers:Task Verdict VerifierPool verify",
)
"""Module, and its names here (``here=there`` where they differ)."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("prorl")
    from importlib import import_module

    for home in _HOMES:
        module, _, names = home.partition(":")
        for pair in names.split():
            here, _, there = pair.partition("=")
            if here == name:
                value = getattr(import_module(module), there or here)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'prorl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
