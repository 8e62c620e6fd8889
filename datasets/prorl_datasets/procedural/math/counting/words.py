"""Problems on arrangements of a word's letters."""

from __future__ import annotations

from collections import Counter
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

WORDS = (
    "BANANA", "LEVEL", "COFFEE", "PEPPER", "TATTOO", "BALLOON", "LETTERS", "ALGEBRA", "CIRCLE",
    "ELEVEN", "KITTEN", "RIBBON", "BUBBLE", "COCOA", "CANAL", "GIGGLE", "SALSA", "PAPAYA",
    "TOMATO", "POTATO", "RADAR", "CARAVAN", "COTTON", "SUMMER", "GARAGE", "SESAME", "VIOLIN",
    "CHEESE", "TUNNEL", "PUPPET", "MAMMAL", "LLAMA", "OTTER", "PANAMA", "CANADA", "NEEDLE",
    "PAPER", "SEVEN", "ERROR", "EAGLE", "OPERA", "ARENA", "IDIOM", "ROTOR", "ALASKA", "HAMMOCK",
    "ADDRESS", "BEDROOM", "MESSAGE", "GRAMMAR", "PASSAGE", "VILLAGE", "ARRIVAL", "BUTTER", "LITTLE", "PUZZLE", "RACCOON", "SEESAW", "TEEPEE", "VOODOO", "WEEKEND", "ZIGZAG",
)  # fmt: skip
"""Words with a repeated letter."""


def _distinct(letters: str) -> int:
    return factorial(len(letters)) // prod(map(factorial, Counter(letters).values()))


def _words(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    word = rng.choice(WORDS)
    if level == 1:
        answer = _distinct(word)
        texts = WORDINGS.all(
            "words, level 1", word=word, who=who, len_word=len(word), join_word=", ".join(word)
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "all", "word": word})
    vowels = [c for c in word if c in "AEIOU"]
    consonants = [c for c in word if c not in "AEIOU"]
    if len(vowels) < 2 or len(consonants) < 2:
        return _words(rng, level)
    two = "".join(c for c, times in Counter(word).items() if times == 2)
    if level == 2:
        ask = rng.choice(("together", "apart", "ends", "pair"))
        if ask == "together":
            answer = _distinct("".join(vowels)) * _distinct("*" + "".join(consonants))
            texts = WORDINGS.all("words, level 2, together", word=word, who=who)
        elif ask == "apart":
            if len(vowels) > len(consonants) + 1:
                return _words(rng, level)
            answer = (
                _distinct("".join(consonants))
                * comb(len(consonants) + 1, len(vowels))
                * _distinct("".join(vowels))
            )
            texts = WORDINGS.all("words, level 2, apart", word=word, who=who)
        elif ask == "ends":
            answer = 0
            for first in set(consonants):
                for last in set(consonants):
                    remaining = list(word)
                    remaining.remove(first)
                    if last in remaining:
                        remaining.remove(last)
                        if first in consonants and (first != last or consonants.count(first) > 1):
                            answer += _distinct("".join(remaining))
            texts = WORDINGS.all("words, level 2, ends", word=word, who=who)
        else:
            if not two:
                return _words(rng, level)
            letter = rng.choice(two)
            answer = _distinct(word) - _distinct(word.replace(letter, "") + "*")
            texts = WORDINGS.all("words, level 2", word=word, letter=letter)
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "word": word, "letter": letter}
            )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "word": word})
    ask = rng.choice(("order", "pick", "rank"))
    if ask == "order" and len(set(vowels)) > 1:
        answer = comb(len(word), len(vowels)) * _distinct("".join(consonants))
        texts = WORDINGS.all("words, order", word=word, who=who, vowels=", ".join(vowels))
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "word": word})
    if ask != "rank":
        k = rng.choice((3, 4))
        counts = Counter(word)
        # ways[t]: strings of t letters, letter by letter of the alphabet
        ways = [1] + [0] * k
        for times in counts.values():
            ways = [
                sum(comb(total, used) * ways[total - used] for used in range(min(times, total) + 1))
                for total in range(k + 1)
            ]
        name = {3: "three", 4: "four"}[k]
        texts = (
            WORDINGS.one("words 2", name=name, word=word),
            WORDINGS.one("words 3", who=who, name=name, word=len(word), word_2=word),
            WORDINGS.one("words 4", name=name, word_joined=", ".join(word)),
        )
        return Problem(rng.choice(texts), str(ways[k]), {"ask": "pick", "word": word, "k": k})
    shuffled = list(word)
    rng.shuffle(shuffled)
    target = "".join(shuffled)
    position = 1
    remaining = sorted(target)
    for letter in target:
        for smaller in sorted(set(remaining)):
            if smaller == letter:
                break
            left = remaining.copy()
            left.remove(smaller)
            position += _distinct("".join(left))
        remaining.remove(letter)
    texts = WORDINGS.all(
        "words", word=word, target=target, who=who, sorted_word=", ".join(sorted(word))
    )
    pick = rng.randrange(3)
    values = {"ask": "before" if pick == 1 else "position", "word": word, "target": target}
    return Problem(texts[pick], str(position - (pick == 1)), values)


FAMILIES = (math_family("counting_words", _words, "arrangements of the letters of a word"),)
