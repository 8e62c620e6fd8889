"""Draws texts and letters for the string families."""

from __future__ import annotations

from random import Random

LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORDS = (
    "apple river stone cloud paper music orange window garden silver planet bottle yellow market "
    "castle winter summer mirror button flower level noon banana letter kitten puzzle rocket "
    "tunnel sun sea tea cat dog map ice egg elephant mountain umbrella sandwich dinosaur crocodile "
    "a an the of under over tree street bee moon book wheel glass hammer pepper coffee happy sunny "
    "little green quick brown fox lazy quiet zebra jazz onion radar civic eleven seven one two "
    "listen silent enlist stale least tales steal arts rats star tar art rat part trap"
)
WORDS = tuple(_WORDS.split())


def text_over(r: Random, alphabet: str, low: int, high: int) -> str:
    return "".join(r.choice(alphabet) for _ in range(r.randint(low, high)))


def runs_over(r: Random, alphabet: str, runs: int, longest: int) -> str:
    """Draw up to ``runs`` runs of equal letters, each of at most ``longest``."""
    return "".join(r.choice(alphabet) * r.randint(1, longest) for _ in range(r.randint(1, runs)))


def words(r: Random, low: int, high: int) -> list[str]:
    return [r.choice(WORDS) for _ in range(r.randint(low, high))]


def sentence(r: Random, low: int, high: int) -> str:
    """Draw ``low`` to ``high`` common lowercase words, separated by spaces."""
    return " ".join(words(r, low, high))


def draw_letters(rng: Random, count: int, pool: str = LETTERS) -> str:
    return "".join(sorted(rng.sample(pool, count)))


def listed(letters: str) -> str:
    if len(letters) == 1:
        return letters
    return f"{', '.join(letters[:-1])} and {letters[-1]}"
