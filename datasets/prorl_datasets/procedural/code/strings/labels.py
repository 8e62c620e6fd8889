"""Labels that count in letters, and the k-th string under rules.

Leaves out: ranks of words (``strings.orders``).
"""

from __future__ import annotations

from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import text_over

_SYMBOLS = "abcdefghijklmnopqrstuvwxyz"


def _label(rng: Random) -> Problem:
    alphabet = "".join(rng.sample("abcdefghijkmnpqrstuvwxyz", rng.randint(2, 6)))
    start = rng.randint(0, 9)
    code = f"""
        def solve(n):
            n += {1 - start}
            label = ""
            while n:
                n, place = divmod(n - 1, {len(alphabet)})
                label = "{alphabet}"[place] + label
            return label
    """

    def brute(n: int) -> str:
        rest, length = n - start, 1
        while rest >= len(alphabet) ** length:
            rest -= len(alphabet) ** length
            length += 1
        places = [rest // len(alphabet) ** i % len(alphabet) for i in range(length)]
        return "".join(alphabet[place] for place in reversed(places))

    first = ", ".join(brute(start + i) for i in range(len(alphabet) + 2))
    return Problem(
        f"Labels are made of the letters {', '.join(alphabet)}, which count in this order. The "
        f"labels are {first}, ...: "
        "shorter labels come before longer ones, equally long ones in the order of their first "
        "different letter. The first label has the "
        f"number {start}, the next one {start + 1}, and so on. Given an integer `n` ({start} <= n "
        "<= 10^12), find the label number n.",
        (("n", "int"),),
        "str",
        source(code),
        brute,
        lambda r: (start + r.randint(1, 10 ** r.randint(1, 12)),),
        {"v": 1, "alphabet": alphabet, "start": start},
        ((start,),),
    )


def _label_number_gold(size: int, alphabet: str, step: int, back: bool) -> str:
    return f"""
        def solve(s):
            number = 0
            for ch in {"reversed(s)" if back else "s"}:
                number = number * {size} + "{alphabet}".index(ch) + 1
            number += {step}
            label = ""
            while number:
                number, place = divmod(number - 1, {size})
                label += "{alphabet}"[place]
            return label{"" if back else "[::-1]"}
    """


def _label_number(rng: Random) -> Problem:
    alphabet = "".join(rng.sample("abcdefghijkmnpqrstuvwxyz", rng.randint(3, 6)))
    step, back = rng.randint(2, 99), rng.random() < 0.5
    size = len(alphabet)
    code = _label_number_gold(size, alphabet, step, back)

    def brute(s: str) -> str:
        letters = list(s if back else reversed(s))
        for _ in range(step):
            for i in range(len(letters) + 1):
                if i == len(letters):
                    letters.append(alphabet[0])
                    break
                at = alphabet.index(letters[i]) + 1
                letters[i] = alphabet[at % size]
                if at < size:
                    break
        return "".join(letters if back else reversed(letters))

    told = (
        "last letter first: labels are compared from their last letter to their first"
        if back
        else ("first letter first: labels are compared from their first letter to their last")
    )
    return Problem(
        f"Labels are the strings of at least one letter out of {', '.join(alphabet)}, which have "
        "this order. Shorter labels come before longer "
        f"ones; equally long ones are ordered {told}, and the first difference decides. Given a "
        "label `s` of at most 30 letters, find the "
        f"label that comes {step} places after it.",
        (("s", "str"),),
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, alphabet, 1, 7),),
        {"v": 2, "alphabet": alphabet, "step": step, "back": back},
        ((alphabet[-1] * 2,),),
    )


def _kth_string_gold(order: str, banned: list[str], cap: int) -> str:
    return f"""
        from functools import cache


        @cache
        def ways(rest, last, run):
            if rest == 0:
                return 1
            total = 0
            for ch in "{order}":
                length = run + 1 if ch == last else 1
                if last + ch not in {tuple(banned)!r} and length <= {cap + 1}:
                    total += ways(rest - 1, ch, length)
            return total


        def solve(n, k):
            if k > ways(n, "", 0):
                return "none"
            text, last, run = "", "", 0
            while len(text) < n:
                for ch in "{order}":
                    length = run + 1 if ch == last else 1
                    if last + ch in {tuple(banned)!r} or length > {cap + 1}:
                        continue
                    count = ways(n - len(text) - 1, ch, length)
                    if k <= count:
                        break
                    k -= count
                text, last, run = text + ch, ch, length
            return text
    """


def _kth_string(rng: Random) -> Problem:
    size = rng.randint(3, 5)
    order = "".join(rng.sample(_SYMBOLS[:size], size))
    banned = sorted({text_over(rng, order, 2, 2) for _ in range(rng.randint(1, size))})
    cap = rng.randint(1, 3)
    code = _kth_string_gold(order, banned, cap)

    @cache
    def all_of(n: int) -> tuple[str, ...]:
        if n == 0:
            return ("",)
        found = [t + ch for t in all_of(n - 1) for ch in order]
        long = [ch * (cap + 2) for ch in order]
        return tuple(t for t in found if not any(t.endswith(bad) for bad in (*banned, *long)))

    def brute(n: int, k: int) -> str:
        return all_of(n)[k - 1] if k <= len(all_of(n)) else "none"

    return Problem(
        f"The letters of this problem have the order {' < '.join(order)}. Take all strings of n of "
        "these letters in which none of "
        f"{', '.join(banned)} appears as two neighbouring letters and no letter stands more than "
        f"{cap + 1} times in a row, sorted by this order "
        "from their first letter on. Given integers `n` (1 <= n <= 40) and `k` (k >= 1), find the "
        "k-th of these strings (k = 1 is the first), or the "
        "word none if there are fewer than k.",
        (("n", "int"), ("k", "int")),
        "str",
        source(code),
        brute,
        lambda r: (r.randint(2, 5), r.randint(1, 2 ** r.randint(2, 5))),
        {"v": 3, "order": order, "banned": banned, "cap": cap},
        ((1, 50),),
    )


FAMILIES = (
    code_family(
        "letter_labels",
        "labels by length and alphabet, to and from numbers",
        leveled(_label, _label_number, _kth_string),
    ),
)
