"""prorl from Python: check answers, load a dataset, train, evaluate, and compare results.

    import prorl

    verdict = prorl.verify(r"The answer is \\boxed{1/2}.", prorl.Task("math", {"answer": "0.5"}))
    problems = prorl.load_dataset("data/quickstart", "test")
    report = prorl.train(preset="quickstart", data="data/quickstart", name="mine")
    before, after = prorl.evaluate(run="mine", checkpoints=[0, "latest"], k=4, n=8)
    print(prorl.compare(before, after).headline(8))

Each name is imported on first use. See ``prorl_verifiers``, ``prorl_datasets``, ``prorl_training`` and ``prorl_evaluation`` for more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prorl_common.lazy import load_on_use

if TYPE_CHECKING:
    from prorl_common import ServiceError, UserError
    from prorl_datasets import Sample
    from prorl_datasets import load as load_dataset
    from prorl_evaluation import Comparison, EvalResult, compare, load_result, pass_at_k
    from prorl_evaluation.sampling.command import evaluate_models as evaluate
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


if TYPE_CHECKING:
    __version__: str
else:
    _load, _names = load_on_use(__name__, __file__)

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            return version("prorl")
        return _load(name)

    def __dir__() -> list[str]:
        return [*_names(), "__version__"]
