r"""math-verify by itself, with the settings its README gives for rewards, in a process that can be killed.

Run as a program it reads a JSON line {"gold", "response", "letters"} from stdin and answers each with
{"accepted", "seconds"}. ``graders.process`` is the other side: it kills the process at the limit, which counts as
a rejection (as math-verify's own timeouts do), and starts another. The inner timeouts are off, since they
need signals. Leaves out confinement: math-verify does not execute text.
"""

from __future__ import annotations

import json
import sys
import time


def grade(gold: str, response: str, letters: str = "") -> bool:
    """Return math-verify's verdict in this process, without a time limit.

    ``letters``: the options of a multiple choice, so that it also looks for one of them.
    """
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import (  # type: ignore[attr-defined, unused-ignore]
        ExprExtractionConfig,
        LatexExtractionConfig,
        StringExtractionConfig,
        parse,
        verify,
    )
    from math_verify.errors import TimeoutException

    text = NormalizationConfig(
        basic_latex=True, units=True, malformed_operators=False, nits=False, boxed="all"
    )
    latex = LatexExtractionConfig(boxed_match_priority=0, normalization_config=text)
    answer_configs = [latex, ExprExtractionConfig()]
    gold_configs = [LatexExtractionConfig(), ExprExtractionConfig()]
    if letters:
        answer_configs.append(StringExtractionConfig(strings=tuple(letters)))
        gold_configs = [StringExtractionConfig(strings=tuple(letters))]
    wrapped = gold if letters else f"\\boxed{{{gold}}}"
    try:
        golds = parse(wrapped, gold_configs, parsing_timeout=None)
        answers = parse(response, answer_configs, parsing_timeout=None)
        return bool(verify(golds, answers, timeout_seconds=None))
    except TimeoutException:
        return False


def main() -> None:
    """Warm up, say so, then answer lines."""
    grade("1", r"\boxed{1}")
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        accepted = grade(request["gold"], request["response"], request.get("letters", ""))
        seconds = time.perf_counter() - started
        print(json.dumps({"accepted": accepted, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
