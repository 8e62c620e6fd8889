"""An environment of your own: guess a number from 1 to 100; each wrong guess is answered with a hint.

    python examples/own_environment.py

``prorl data build``, ``prorl train`` and ``prorl eval`` use it with ``--plugin examples/own_environment.py``.
"""

from pathlib import Path
from typing import Any

from prorl_verifiers import EnvironmentSpec


def start(reference: Any) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The state is JSON and holds everything: the next turn may run in another process."""
    question = "Guess my number from 1 to 100. Answer with a number alone."
    return {"secret": int(reference["answer"]), "guesses": 0, "found": False}, [
        {"role": "user", "content": question}
    ]


def step(
    state: dict[str, Any], response: str
) -> tuple[dict[str, Any], list[dict[str, str]] | None]:
    """Answer a guess, or end the conversation with None."""
    state["guesses"] += 1
    word = response.strip()
    if not word.isdecimal():
        return state, [{"role": "user", "content": "That is not a number."}]
    state["found"] = int(word) == state["secret"]
    if state["found"]:
        return state, None
    hint = "higher" if int(word) < state["secret"] else "lower"
    return state, [{"role": "user", "content": f"My number is {hint}."}]


def score(state: dict[str, Any]) -> float:
    """Return 1 for the number; a limit on turns ends a conversation that does not find it."""
    return float(state["found"])


SPEC = EnvironmentSpec(name="guess-number", start=start, step=step, score_state=score)


if __name__ == "__main__":
    from prorl_common import use_plugins
    from prorl_verifiers import Task, VerifierPool, next_task

    use_plugins([Path(__file__)])
    task = Task("guess-number", {"answer": "25"})
    with VerifierPool(workers=1) as pool:
        state = None
        for guess in ("50", "many", "25"):
            verdict = pool.score([(guess, next_task(task, state, last=False))])[0]
            state = verdict.turn.state if verdict.turn else None
            answer = verdict.turn.messages[-1]["content"] if verdict.turn else verdict.reward
            print(f"{guess:5} {verdict.status}: {answer}")
