"""The scorers of other projects, unchanged, each in a process of its own that can be killed.

    python -m graders.original_scorers NAME FOLDER

reads JSON lines {"gold", "response"} from stdin and answers each with {"accepted", "seconds"} or {"crash"}. FOLDER
holds the project's wheel, unpacked. Only the modules of the scorer are loaded: a package whose ``__init__`` would
load its trainer is entered without it, and modules that the scorer's file imports for other metrics are empty
stand-ins. Nothing of the scorer itself is replaced. These scorers may evaluate text as Python: run them on inputs
that you know.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

Scorer = Callable[[str, str], bool]
"""(gold, response) -> accepted."""
MEMORY = 6 << 30
"""Bytes of address space."""


def enter(folder: Path, *packages: str) -> None:
    """Make packages of ``folder`` importable without running their ``__init__``."""
    for name in packages:
        module = ModuleType(name)
        module.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = module


def stand_in(*modules: str) -> None:
    """Put modules in place whose every name is an empty class."""
    for name in modules:
        module = ModuleType(name)
        setattr(module, "__getattr__", lambda attribute: type(attribute, (), {}))  # noqa: B010
        sys.modules[name] = module


def verl(source: str) -> Callable[[Path], Scorer]:
    """Return what loads verl's scorer of one data source."""

    def load(folder: Path) -> Scorer:
        enter(folder, "verl", "verl.utils")
        stand_in("verl.utils.metric")
        scores = importlib.import_module("verl.utils.reward_score")

        def grade(gold: str, response: str) -> bool:
            found = scores.default_compute_score(source, response, gold)
            return float(found["score"] if isinstance(found, dict) else found) == 1.0

        return grade

    return load


def verl_math_verify(folder: Path) -> Scorer:
    """Load verl's wrapper of math-verify (processes of its own)."""
    enter(folder, "verl", "verl.utils", "verl.utils.reward_score")
    wrapper = importlib.import_module("verl.utils.reward_score.math_verify")
    return lambda gold, response: float(wrapper.compute_score(response, gold)) == 1.0


def trl(folder: Path) -> Scorer:
    """Load TRL's accuracy_reward; it gets the gold between dollars, as its documentation shows golds."""
    enter(folder, "trl", "trl.rewards")
    rewards = importlib.import_module("trl.rewards.accuracy_rewards")

    def grade(gold: str, response: str) -> bool:
        return bool(rewards.accuracy_reward([[{"content": response}]], [f"${gold}$"])[0] == 1.0)

    return grade


def lighteval(folder: Path) -> Scorer:
    """Load lighteval's extractive match with the targets of its math metrics."""
    enter(folder, "lighteval.tasks", "lighteval.tasks.templates")
    stand_in(
        "lighteval.metrics.metrics_sample",
        "lighteval.metrics.normalizations",
        "lighteval.metrics.utils.metric_utils",
        "lighteval.models.model_output",
        "lighteval.utils.utils",
    )
    metrics: Any = importlib.import_module("lighteval.metrics.dynamic_metrics")
    languages = importlib.import_module("lighteval.utils.language")
    targets = [metrics.ExprExtractionConfig(), metrics.LatexExtractionConfig()]
    metric = metrics.MultilingualExtractiveMatchMetric(
        language=languages.Language.ENGLISH,
        gold_extraction_target=targets,
        pred_extraction_target=targets,
        precision=6,
    )

    def grade(gold: str, response: str) -> bool:
        document = SimpleNamespace(get_golds=lambda: [f"${gold}$"], specific=None)
        return bool(metric.compute(document, SimpleNamespace(final_text=[response])) == 1.0)

    return grade


LOADERS: dict[str, Callable[[Path], Scorer]] = {
    "verl gsm8k": verl("openai/gsm8k"),
    "verl math_reward": verl("lighteval/MATH"),
    "verl math_dapo": verl("math_dapo"),
    "verl prime_math": verl("numina_olympiads"),
    "verl math_verify": verl_math_verify,
    "TRL accuracy_reward": trl,
    "lighteval extractive_match": lighteval,
}
if __name__ in ("__main__", "__mp_main__"):  # also where a scorer starts processes of its own
    sys.path.insert(0, sys.argv[2])
    SCORER = LOADERS[sys.argv[1]](Path(sys.argv[2]))


def answer(line: str) -> dict[str, Any]:
    """Return the verdict of one request; what the scorer raises is a crash of it."""
    request = json.loads(line)
    started = time.perf_counter()
    try:
        accepted = SCORER(request["gold"], request["response"])
    except BaseException as error:  # noqa: BLE001 - that is what is measured
        return {"crash": type(error).__name__, "seconds": time.perf_counter() - started}
    return {"accepted": accepted, "seconds": time.perf_counter() - started}


def main() -> None:
    """Warm up, say so, then answer lines; what scorers print goes to stderr."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    replies, sys.stdout = sys.stdout, sys.stderr
    SCORER("1", r"\boxed{1}")
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line)), file=replies, flush=True)


if __name__ == "__main__":
    main()
