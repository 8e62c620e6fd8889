"""Permutations and functions: things in their own or in wrong places, and functions.

Leaves out: people in rows (``seats``) and letters of words (``words``).
"""

from __future__ import annotations

from itertools import permutations, product
from math import comb, factorial
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family


def _deranged(n: int, bound: int | None = None) -> int:
    """Count the permutations of n things that leave none of the first ``bound`` in its place."""
    bound = n if bound is None else bound
    return sum((-1) ** i * comb(bound, i) * factorial(n - i) for i in range(bound + 1))


def _fixed_points(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n = rng.randint(4, 12)
    scene = rng.choice((
        (f"{n} letters are put at random into {n} addressed envelopes, one in each.",
         "letter", "goes into its own envelope", "go into their own envelopes"),
        (f"{n} guests leave a party, each taking one of their {n} coats.",
         "guest", "takes his or her own coat", "take their own coats"),
        (f"{n} pupils exchange their essays for marking, so that each pupil marks one essay.",
         "pupil", "marks his or her own essay", "mark their own essays"),
        (f"{n} friends put their names into a hat, and each of them draws one name.",
         "friend", "draws his or her own name", "draw their own names"),
        (f"{n} keys are hung on {n} labeled hooks, one on each.",
         "key", "hangs on its own hook", "hang on their own hooks"),
    ))  # fmt: skip
    lead, one, own, owns = scene
    if level == 1:
        j = rng.choice((0, 0, 1, 2, 3))
        if rng.random() < 0.3:
            j, n = rng.randint(0, 2), rng.randint(5, 12)
            answer = comb(n - 1, j) * _deranged(n - 1 - j)
            rest = ("none", "exactly one", "exactly two")[j]
            a = rng.choice(PEOPLE)
            texts = phrasings(
                f"{n} people, {a} among them, draw lots with their names on them, one lot each. "
                "In how "
                f"many ways can it happen that {a} and {rest} of the others "
                f"{'draws' if j < 2 else 'draw'} the own name?",
                f"At the end of a party {n} hats are returned at random to their {n} owners. "
                "Count the "
                f"ways in which {a}, one of the owners, gets the right hat while {rest} of the "
                "other "
                f"{n - 1} owners {'does' if j < 2 else 'do'}.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": "named", "n": n, "j": j})
        answer = comb(n, j) * _deranged(n - j)
        wish = (
            f"no {one} {own}"
            if j == 0
            else f"exactly {j} {one + ' ' + own if j == 1 else one + 's ' + owns}"
        )
        texts = phrasings(
            f"{lead} In how many ways can this happen so that {wish}?",
            f"{lead} Count the outcomes in which {wish}.",
            f"How many permutations of the numbers $1, 2, \\ldots, {n}$ "
            f"{'leave no number' if j == 0 else 'leave exactly ' + str(j) + (' number' if j == 1 else ' numbers')} "
            f"in {'their original places' if j > 1 else 'its original place'}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "exactly", "n": n, "j": j})
    if level == 2:
        ask = rng.choice(("at least", "some", "pair"))
        if ask == "at least":
            j = rng.randint(1, n - 2)
            answer = sum(comb(n, i) * _deranged(n - i) for i in range(j, n + 1))
            wish = f"at least {j} {one + ' ' + own if j == 1 else one + 's ' + owns}"
            texts = (
                f"{lead} In how many of the possible outcomes is it true that {wish}?",
                f"{lead} Find the number of ways in which {wish}.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "j": j})
        if ask == "some":
            bound = rng.randint(2, n - 1)
            answer = _deranged(n, bound)
            texts = phrasings(
                f"How many permutations $a_1, a_2, \\ldots, a_{n}$ of the numbers $1, 2, "
                f"\\ldots, {n}$ have "
                f"$a_i \\ne i$ whenever $i \\le {bound}$ (for the other places there is no "
                "condition)?",
                f"{n} actors swap their {n} roles among themselves, each getting one role, "
                "perhaps the old "
                f"one. {bound} of the actors insist on a new role. In how many ways can the "
                "roles be given "
                "out?",
                f"{n} employees are assigned anew to the same {n} desks. {bound} particular "
                "employees must "
                "not return to their own desks; the others may. How many assignments are there?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "bound": bound})
        a, b = rng.sample(PEOPLE, 2)
        n = rng.randint(5, 8)
        answer = sum(
            p[0] == 1 and all(x != i for i, x in enumerate(p)) for p in permutations(range(n))
        )
        both = rng.random() < 0.5
        if both:
            answer = sum(
                p[0] == 1 and p[1] == 0 and all(x != i for i, x in enumerate(p))
                for p in permutations(range(n))
            )
        rule = f"{a} draws {b}" + (f" and {b} draws {a}" if both else "")
        texts = phrasings(
            f"{n} people, {a} and {b} among them, draw names for giving presents, so that "
            "everybody draws "
            "exactly one name and nobody the own one. In how many ways can this turn out such "
            f"that {rule}?",
            f"In a group of {n}, everyone gives a present to exactly one other member and "
            "receives exactly "
            f"one. Names are drawn to decide it. How many outcomes are there in which {rule}, if "
            f"{a} and {b} "
            "belong to the group?",
        )
        values = {"ask": "each other" if both else "one way", "n": n}
        if answer < 2:
            return _fixed_points(rng, level)
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("near", "parity", "cycle", "double"))
    n = rng.randint(4, 8)
    if ask == "near":
        reach = rng.choice((1, 2, 3))
        answer = sum(
            all(abs(x - i) <= reach for i, x in enumerate(p)) for p in permutations(range(n))
        )
        texts = phrasings(
            f"{n} people sit in a row. They get up and sit down again in the same {n} seats, "
            "where everyone "
            f"takes the old seat or one that is at most {reach} "
            f"{'place' if reach == 1 else 'places'} away "
            "from it. How many new seating orders, the old one included, are possible?",
            f"How many permutations $p_1, p_2, \\ldots, p_{n}$ of $1, 2, \\ldots, {n}$ satisfy "
            f"$|p_k - k| \\le {reach}$ for every $k$?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "reach": reach})
    if ask == "parity":
        m = rng.choice((2, 3))
        answer = sum(
            all((i + x) % m != 0 for i, x in enumerate(p, 1)) for p in permutations(range(1, n + 1))
        )
        if answer < 2:
            m = 2
            n -= n % 2
            answer = factorial(n // 2) ** 2
        name = {2: "even", 3: "divisible by $3$"}[m]
        texts = phrasings(
            f"How many permutations $a_1, \\ldots, a_{n}$ of the numbers $1, 2, \\ldots, {n}$ "
            "are there for "
            f"which none of the sums $a_1 + 1, a_2 + 2, \\ldots, a_{n} + {n}$ is {name}?",
            f"Cards numbered 1 to {n} are laid on fields numbered 1 to {n}, one on each. In how "
            "many ways can "
            "this be done so that the number of a card plus the number of its field is never "
            f"{name}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m})
    if ask == "cycle":
        number = rng.randint(2, 4)
        answer = _stirling(n, number)
        word = {2: "two", 3: "three", 4: "four"}[number]
        texts = phrasings(
            f"In how many ways can {n} different people be seated around {word} identical round "
            "tables so "
            "that no table stays empty? One person alone at a table is allowed. Seatings that "
            "differ by "
            "rotating the people around a table, or by exchanging whole tables, are the same; "
            "mirror images "
            "are different.",
            f"Each of {n} numbered lockers contains exactly one of the {n} keys. From any locker "
            "one goes to "
            "the locker that is opened by the key inside, and so on, until the round closes; a "
            "locker with "
            "its own key is a round by itself. For how many distributions of the keys are there "
            "exactly "
            f"{word} rounds?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "number": number})
    n = rng.randint(4, 12)
    square = rng.random() < 0.5
    involutions = [1, 1]
    for i in range(2, n + 1):
        involutions.append(involutions[-1] + (i - 1) * involutions[-2])
    answer = involutions[n]
    if not square:
        answer -= 1
    texts = phrasings(
        f"How many permutations $f$ of the set $\\{{1, 2, \\ldots, {n}\\}}$ satisfy $f(f(x)) = "
        "x$ for every "
        f"$x${'' if square else ', other than the one that leaves every number in its place'}?",
        f"{n} players form teams of two; anyone may also stay alone"
        f"{', even all of them' if square else ', but there is at least one team'}. In how many "
        "ways can "
        "the teams be formed?",
        f"{who} has {n} numbered sockets and some cables. Each cable joins two sockets, and no "
        "socket has "
        f"more than one cable. How many ways of connecting them are there, "
        f"{'the one without any cable included' if square else 'if at least one cable is used'}?",
    )
    values = {"ask": "involutions" if square else "nontrivial", "n": n}
    return Problem(rng.choice(texts), str(answer), values)


def _stirling(n: int, k: int) -> int:
    if n == 0 or k == 0:
        return int(n == k)
    return _stirling(n - 1, k - 1) + (n - 1) * _stirling(n - 1, k)


def _functions(rng: Random, level: int) -> Problem:
    n, m = rng.randint(2, 5), rng.randint(3, 8)
    domain = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
    target = f"\\{{1, 2, \\ldots, {m}\\}}" if m > 3 else "\\{1, 2, 3\\}"
    if level == 1:
        ask = rng.choice(("increasing", "nondecreasing", "injective"))
        if ask != "nondecreasing":
            n, m = redrawn(lambda: (rng.randint(2, 5), rng.randint(3, 9)), lambda p: p[0] < p[1])
            domain = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
            target = f"\\{{1, 2, \\ldots, {m}\\}}" if m > 3 else "\\{1, 2, 3\\}"
        answer = {
            "increasing": comb(m, n),
            "nondecreasing": comb(m + n - 1, n),
            "injective": factorial(m) // factorial(m - n) if m >= n else 0,
        }[ask]
        rule = {
            "increasing": "$f(i) < f(j)$ whenever $i < j$",
            "nondecreasing": "$f(i) \\le f(j)$ whenever $i < j$",
            "injective": "$f(i) \\ne f(j)$ whenever $i \\ne j$",
        }[ask]
        chain = {
            "increasing": "strictly increasing", "nondecreasing": "nondecreasing",
            "injective": "without repetition",
        }[ask]  # fmt: skip
        texts = phrasings(
            f"How many functions $f$ from ${domain}$ to ${target}$ satisfy {rule}?",
            f"Find the number of sequences of ${n}$ integers between $1$ and ${m}$, inclusive, "
            "that are "
            f"{chain}.",
            f"A die with faces numbered $1$ to ${m}$ is rolled {n} times. For how many of the "
            "possible "
            f"sequences of results is the sequence {chain}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m})
    if level == 2:
        ask = rng.choice(("sum", "with value", "gap", "max"))
        n = rng.randint(2, 4)
        domain = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
        if ask == "sum":
            m = rng.randint(4, 8)
            total = rng.randint(n + 2, n * m - 2)
            answer = sum(sum(t) == total for t in product(range(1, m + 1), repeat=n))
            terms = " + ".join(f"f({i})" for i in range(1, n + 1))
            texts = phrasings(
                f"How many functions $f$ from ${domain}$ to $\\{{1, 2, \\ldots, {m}\\}}$ have "
                f"${terms} = {total}$?",
                f"In how many ways can {n} different dice with faces $1$ to ${m}$ show a total of "
                f"${total}$?",
            )
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "total": total}
            )
        if ask == "with value":
            v = rng.randint(1, m)
            n = rng.randint(3, 5)
            domain = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
            answer = m**n - (m - 1) ** n - n * (m - 1) ** (n - 1)
            texts = phrasings(
                f"How many functions from ${domain}$ to ${target}$ take the value ${v}$ at least "
                "twice?",
                f"Every one of {n} people chooses one number from $1$ to ${m}$. In how many of "
                "the possible "
                f"outcomes is ${v}$ chosen by two people or more?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "v": v})
        if ask == "gap":
            n, m, gap = redrawn(
                lambda: (rng.randint(2, 4), rng.randint(6, 14), rng.randint(2, 3)),
                lambda t: t[1] - (t[0] - 1) * (t[2] - 1) > t[0],
            )
            answer = comb(m - (n - 1) * (gap - 1), n)
            texts = phrasings(
                f"How many increasing sequences of ${n}$ integers from $1$ to ${m}$ are there in "
                "which any "
                f"two neighboring terms differ by at least ${gap}$?",
                f"In a month of {m} days, {n} rest days are fixed so that after each rest day "
                "the next one "
                f"comes {gap} days later at the earliest. How many plans are possible?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "gap": gap})
        n = rng.randint(2, 5)
        top = rng.randint(2, m)
        answer = top**n - (top - 1) ** n
        texts = phrasings(
            f"How many sequences of ${n}$ integers, each from $1$ to ${m}$, have ${top}$ as "
            "their largest "
            "term?",
            f"A die with faces numbered $1$ to ${m}$ is rolled {n} times. In how many of the "
            "possible "
            f"sequences of results is the highest result equal to ${top}$?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "top": top})
    ask = rng.choice(("idempotent", "no fixed", "step", "image size"))
    n = rng.randint(3, 6)
    s = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
    if ask == "idempotent":
        answer = sum(comb(n, k) * k ** (n - k) for k in range(1, n + 1))
        fixed = rng.randint(1, n - 1)
        if rng.random() < 0.6:
            answer = comb(n, fixed) * fixed ** (n - fixed)
            texts = (
                (
                    f"How many functions $f$ from the set ${s}$ to itself satisfy $f(f(x)) = "
                    "f(x)$ for all $x$ "
                    f"and have exactly {fixed} different {'value' if fixed == 1 else 'values'}?"
                ),
            )
            texts = (
                *texts,
                (
                    f"Among {n} villages, exactly {fixed} "
                    f"{'gets a school' if fixed == 1 else 'get schools'}. "
                    "Each village without a school is assigned to one village that has one. In "
                    "how many ways "
                    "can the school villages and the assignments be chosen?"
                ),
            )
            values = {"ask": "idempotent image", "n": n, "size": fixed}
            return Problem(rng.choice(texts), str(answer), values)
        texts = phrasings(
            f"How many functions $f$ from the set ${s}$ to itself satisfy $f(f(x)) = f(x)$ for "
            "all $x$?",
            f"Each of {n} people votes for one of the {n}, possibly for himself or herself. In "
            "how many ways "
            "can the votes be cast so that everyone who gets a vote has voted for himself or "
            "herself?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})
    if ask == "no fixed":
        m = rng.randint(1, n - 1)
        answer = comb(n, m) * (n - 1) ** (n - m)
        texts = phrasings(
            f"How many functions $f$ from the set ${s}$ to itself have exactly {m} "
            f"{'number' if m == 1 else 'numbers'} $x$ with $f(x) = x$?",
            f"Each of {n} people points at one of the {n} people, possibly at himself or "
            "herself. In how many "
            f"ways can this be done so that exactly {m} "
            f"{'person points at himself or herself' if m == 1 else 'people point at themselves'}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m})
    if ask == "step":
        n, m, reach = rng.randint(3, 6), rng.randint(3, 6), rng.choice((1, 2))
        ways = dict.fromkeys(range(1, m + 1), 1)
        for _ in range(n - 1):
            ways = {v: sum(times for u, times in ways.items() if abs(u - v) <= reach) for v in ways}
        texts = phrasings(
            f"How many sequences of ${n}$ integers, each from $1$ to ${m}$, are there in which "
            "any two "
            f"neighboring terms differ by at most ${reach}$?",
            f"A lift in a building with floors $1$ to ${m}$ is observed {n} times. Between two "
            "observations it "
            f"moves up or down by at most {reach} {'floor' if reach == 1 else 'floors'} or stays "
            "where it is. "
            "How many sequences of observed floors are possible?",
        )
        values = {"ask": ask, "n": n, "m": m, "reach": reach}
        return Problem(rng.choice(texts), str(sum(ways.values())), values)
    n, m = rng.randint(4, 6), rng.randint(3, 6)
    k = rng.randint(2, min(3, m - 1))
    answer = comb(m, k) * sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(k + 1))
    source = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
    texts = phrasings(
        f"How many functions from ${source}$ to $\\{{{', '.join(map(str, range(1, m + 1)))}\\}}$ "
        "have exactly "
        f"{k} different values?",
        f"{n} guests order one dish each from a menu with {m} dishes. In how many ways can they "
        "order so that "
        f"exactly {k} different dishes are chosen altogether?",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "k": k})


FAMILIES = (
    math_family("counting_fixed_points", _fixed_points, "things in their own or in wrong places"),
    math_family("counting_functions", _functions, "functions and sequences with a condition"),
)
