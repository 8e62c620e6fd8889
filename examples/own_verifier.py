"""A verifier of your own: is the response a palindrome that contains the word that was asked for?

    prorl verify answer --plugin examples/own_verifier.py --verifier palindrome --gold level "Level, level!"
    python examples/own_verifier.py

It is used like prorl's verifiers: in recipes (``verifier: palindrome``), in training and in evaluation, each with
``--plugin examples/own_verifier.py``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prorl_verifiers import DataShape, Score, VerifierSpec, unparsable


def score(response: str, reference: Mapping[str, Any]) -> Score:
    """Return 1 for a palindrome that contains the word, 0.5 for one without it, and 0 otherwise."""
    letters = [c for c in response.lower() if c.isalpha()]
    if not letters:
        return unparsable("no letters")
    if letters != letters[::-1]:
        return Score(0.0, "not a palindrome", response)
    has_word = reference["answer"] in response.lower()
    return Score(
        1.0 if has_word else 0.5, "has the word" if has_word else "lacks the word", response
    )


SPEC = VerifierSpec(
    name="palindrome",
    score=score,
    data=DataShape(prompt="Write a palindrome that contains: {question}"),
)


if __name__ == "__main__":
    from prorl import Task, VerifierPool
    from prorl_common import use_plugins

    use_plugins([Path(__file__)])
    task = Task("palindrome", {"answer": "level"})
    with VerifierPool(workers=1) as pool:
        for answer in ("Level, level!", "Noon", "Hello", "..."):
            verdict = pool.score([(answer, task)])[0]
            print(f"{answer!r:18} {verdict.reward} {verdict.status}: {verdict.reason}")
