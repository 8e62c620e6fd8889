"""math-verify alone, with the settings that its README gives for rewards.

As a program, it answers each JSON line {"gold", "response", "letters"} on stdin with {"accepted", "seconds"}. Its own
timeouts are disabled, since they need signals; ``graders.process`` kills the program at the time limit.
"""

from __future__ import annotations

import json
import sys
import time


def grade(gold: str, response: str, letters: str = "") -> bool:
    """Return math-verify's verdict in this process, without a time limit.

    ``letters`` are the options of a multiple-choice question, which it then extracts too.
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
    """Warm up, print a line, then answer requests."""
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
