"""Arrangements of the letters of a word, and their places in the dictionary.

Leaves out: people in rows and around tables (``seats``).
"""

from __future__ import annotations

from collections import Counter
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings
from prorl_datasets.procedural.math.problem import Problem, math_family

WORDS = (
    "BANANA", "LEVEL", "COFFEE", "PEPPER", "TATTOO", "BALLOON", "LETTERS", "ALGEBRA", "CIRCLE",
    "ELEVEN", "KITTEN", "RIBBON", "BUBBLE", "COCOA", "CANAL", "GIGGLE", "SALSA", "PAPAYA",
    "TOMATO", "POTATO", "RADAR", "CARAVAN", "COTTON", "SUMMER", "GARAGE", "SESAME", "VIOLIN",
    "CHEESE", "TUNNEL", "PUPPET", "MAMMAL", "LLAMA", "OTTER", "PANAMA", "CANADA", "NEEDLE",
    "PAPER", "SEVEN", "ERROR", "EAGLE", "OPERA", "ARENA", "IDIOM", "ROTOR", "ALASKA", "HAMMOCK",
    "ADDRESS", "BEDROOM", "MESSAGE", "GRAMMAR", "PASSAGE", "VILLAGE", "ARRIVAL", "BUTTER", "LITTLE", "PUZZLE", "RACCOON", "SEESAW", "TEEPEE", "VOODOO", "WEEKEND", "ZIGZAG",
)  # fmt: skip
"""Words with a letter that occurs more than once."""


def _distinct(letters: str) -> int:
    return factorial(len(letters)) // prod(map(factorial, Counter(letters).values()))


def _words(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    word = rng.choice(WORDS)
    if level == 1:
        answer = _distinct(word)
        texts = phrasings(
            f"How many different arrangements of all the letters of the word {word} are there?",
            f"{who} has {len(word)} letter tiles that spell {word} and lays them in a row in every "
            "possible order. Tiles with equal letters cannot be told apart. How many different "
            "words "
            "(with or without meaning) appear?",
            f"In how many distinguishable ways can the letters in {word} be put in order?",
            f"A computer lists all the strings that use exactly the letters of {word}, each as "
            "often "
            "as it occurs there, without listing any string twice. How long is the list?",
            f"Find the number of distinct permutations of the letters of {word}.",
            f"The magnets {', '.join(word)} hang on a refrigerator door. If equal letters look "
            "alike, "
            "in how many different orders can they be hung in one line?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "all", "word": word})
    vowels = [c for c in word if c in "AEIOU"]
    others = [c for c in word if c not in "AEIOU"]
    if len(vowels) < 2 or len(others) < 2:
        return _words(rng, level)
    two = "".join(c for c, times in Counter(word).items() if times == 2)
    if level == 2:
        ask = rng.choice(("together", "apart", "ends", "pair"))
        if ask == "together":
            answer = _distinct("".join(vowels)) * _distinct("*" + "".join(others))
            texts = phrasings(
                f"In how many different arrangements of the letters of {word} do all the vowels "
                "stand "
                "next to each other, forming one block?",
                f"{who} rearranges the letters of {word} so that no consonant stands between two "
                "vowels. How many different results are possible, the word itself included if it "
                "fits?",
                f"How many strings consist of exactly the letters of the word {word} and have all "
                "their vowels (A, E, I, O, U) in consecutive places?",
            )
        elif ask == "apart":
            if len(vowels) > len(others) + 1:
                return _words(rng, level)
            answer = (
                _distinct("".join(others))
                * comb(len(others) + 1, len(vowels))
                * _distinct("".join(vowels))
            )
            texts = phrasings(
                f"How many distinct arrangements of the letters of {word} have no two vowels "
                "next to "
                "each other?",
                f"The letters of {word} are written in a row in such a way that neighboring "
                "letters "
                "are never both vowels (A, E, I, O, U). In how many different ways can this be "
                "done?",
                f"{who} looks at all different orders of the letters in {word} and crosses out "
                "every "
                "one that contains two adjacent vowels. How many are left?",
            )
        elif ask == "ends":
            answer = 0
            for first in set(others):
                for last in set(others):
                    rest = list(word)
                    rest.remove(first)
                    if last in rest:
                        rest.remove(last)
                        if first in others and (first != last or others.count(first) > 1):
                            answer += _distinct("".join(rest))
            texts = phrasings(
                f"How many distinct arrangements of the letters of {word} begin and end with a "
                "consonant?",
                f"{who} writes the letters of {word} in a different order (or in the same order) "
                "so "
                "that both the first and the last letter are consonants. How many results are "
                "there?",
                f"Among all the different strings formed from the letters of {word}, count those "
                "which have a vowel neither at the beginning nor at the end.",
            )
        else:
            if not two:
                return _words(rng, level)
            letter = rng.choice(two)
            answer = _distinct(word) - _distinct(word.replace(letter, "") + "*")
            texts = phrasings(
                f"In how many distinct arrangements of the letters of {word} are the two "
                f"{letter}'s "
                "not next to each other?",
                f"The tiles of the word {word} are shuffled and laid in a row. Count the different "
                f"results in which the two letters {letter} are separated by at least one other "
                "letter.",
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "word": word, "letter": letter}
            )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "word": word})
    ask = rng.choice(("order", "pick", "rank"))
    if ask == "order" and len(set(vowels)) > 1:
        answer = comb(len(word), len(vowels)) * _distinct("".join(others))
        texts = phrasings(
            f"In how many different arrangements of the letters of {word} do the vowels appear "
            "in the "
            "same order as in the word itself, not necessarily next to each other?",
            f"{who} writes the letters of {word} in a new order but is careful to keep the "
            "vowels in "
            f"the order {', '.join(vowels)} from left to right; consonants may stand between them. "
            "Counting the original word too, how many results are possible?",
        )
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
        texts = phrasings(
            f"How many different {name}-letter strings can be formed with letters of the word "
            f"{word}, "
            "if no letter is used more often than it occurs in the word?",
            f"{who} draws {name} of the {len(word)} letter tiles of the word {word} and lays "
            "them in a "
            "row. How many different strings are possible?",
            f"Find the number of distinct {name}-letter codes (meaningful or not) that can be made "
            f"from the tiles {', '.join(word)}, each tile being used at most once.",
        )
        return Problem(rng.choice(texts), str(ways[k]), {"ask": "pick", "word": word, "k": k})
    shuffled = list(word)
    rng.shuffle(shuffled)
    target = "".join(shuffled)
    position = 1
    rest = sorted(target)
    for letter in target:
        for smaller in sorted(set(rest)):
            if smaller == letter:
                break
            left = rest.copy()
            left.remove(smaller)
            position += _distinct("".join(left))
        rest.remove(letter)
    texts = phrasings(
        f"All distinct arrangements of the letters of {word} are listed in alphabetical order. At "
        f"which position does {target} stand?",
        f"{who} sorts all the different strings that can be formed from the letters of {word} as "
        "in "
        f"a dictionary. How many of them come before {target}?",
        f"The distinct permutations of the letters {', '.join(sorted(word))} are numbered $1, 2, "
        "3, "
        f"\\ldots$ in dictionary order. What is the number of the permutation {target}?",
    )
    pick = rng.randrange(3)
    values = {"ask": "before" if pick == 1 else "position", "word": word, "target": target}
    return Problem(texts[pick], str(position - (pick == 1)), values)


FAMILIES = (math_family("counting_words", _words, "arrangements of the letters of a word"),)
