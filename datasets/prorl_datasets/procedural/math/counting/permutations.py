"""Problems on permutations and functions."""

from __future__ import annotations

from itertools import permutations, product
from math import comb, factorial
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _deranged(n: int, bound: int | None = None) -> int:
    """Count the permutations of n things that displace the first ``bound`` (default: all)."""
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
            texts = WORDINGS.all(
                "fixed points 5",
                n=n,
                a=a,
                rest=rest,
                draws="draws" if j < 2 else "draw",
                n_minus_1=n - 1,
                does="does" if j < 2 else "do",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": "named", "n": n, "j": j})
        answer = comb(n, j) * _deranged(n - j)
        wish = (
            f"no {one} {own}"
            if j == 0
            else f"exactly {j} {one + ' ' + own if j == 1 else one + 's ' + owns}"
        )
        texts = (
            f"{lead} In how many ways can this happen so that {wish}?",
            f"{lead} Count the outcomes in which {wish}.",
            WORDINGS.one(
                "fixed points 4",
                n=n,
                leave_no="leave no number"
                if j == 0
                else "leave exactly " + str(j) + (" number" if j == 1 else " numbers"),
                their_original="their original places" if j > 1 else "its original place",
            ),
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "exactly", "n": n, "j": j})
    if level == 2:
        ask = rng.choice(("at least", "some", "pair"))
        if ask == "at least":
            j = rng.randint(1, n - 2)
            answer = sum(comb(n, i) * _deranged(n - i) for i in range(j, n + 1))
            wish = f"at least {j} {one + ' ' + own if j == 1 else one + 's ' + owns}"
            texts = WORDINGS.all("fixed points 6", lead=lead, wish=wish)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "j": j})
        if ask == "some":
            bound = rng.randint(2, n - 1)
            answer = _deranged(n, bound)
            texts = WORDINGS.all("fixed points, level 2, some", n=n, bound=bound)
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
        texts = WORDINGS.all("fixed points, level 2", n=n, a=a, b=b, rule=rule)
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
        texts = WORDINGS.all(
            "fixed points, near",
            n=n,
            reach=reach,
            place_or_places="place" if reach == 1 else "places",
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
        texts = WORDINGS.all("fixed points, parity", n=n, name=name)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m})
    if ask == "cycle":
        number = rng.randint(2, 4)
        answer = _stirling(n, number)
        word = {2: "two", 3: "three", 4: "four"}[number]
        texts = WORDINGS.all("fixed points, cycle", n=n, word=word)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "number": number})
    n = rng.randint(4, 12)
    square = rng.random() < 0.5
    involutions = [1, 1]
    for i in range(2, n + 1):
        involutions.append(involutions[-1] + (i - 1) * involutions[-2])
    answer = involutions[n]
    if not square:
        answer -= 1
    texts = WORDINGS.all(
        "fixed points",
        n=n,
        other_than="" if square else ", other than the one that leaves every number in its place",
        how_many=", even all of them" if square else ", but there is at least one team",
        who=who,
        what="the one without any cable included" if square else "if at least one cable is used",
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
        rule = WORDINGS.one(f"functions {ask}")
        chain = WORDINGS.one(f"functions of {ask}")
        texts = WORDINGS.all(
            "functions 9", domain=domain, target=target, rule=rule, n=n, m=m, chain=chain
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
            texts = WORDINGS.all("functions 10", domain=domain, m=m, terms=terms, total=total, n=n)
            return Problem(
                rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "total": total}
            )
        if ask == "with value":
            v = rng.randint(1, m)
            n = rng.randint(3, 5)
            domain = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
            answer = m**n - (m - 1) ** n - n * (m - 1) ** (n - 1)
            texts = WORDINGS.all("functions 11", domain=domain, target=target, v=v, n=n, m=m)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "v": v})
        if ask == "gap":
            n, m, gap = redrawn(
                lambda: (rng.randint(2, 4), rng.randint(6, 14), rng.randint(2, 3)),
                lambda t: t[1] - (t[0] - 1) * (t[2] - 1) > t[0],
            )
            answer = comb(m - (n - 1) * (gap - 1), n)
            texts = WORDINGS.all("functions, level 2, gap", n=n, m=m, gap=gap)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "gap": gap})
        n = rng.randint(2, 5)
        top = rng.randint(2, m)
        answer = top**n - (top - 1) ** n
        texts = WORDINGS.all("functions, level 2", n=n, m=m, top=top)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "top": top})
    ask = rng.choice(("idempotent", "no fixed", "step", "image size"))
    n = rng.randint(3, 6)
    s = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
    if ask == "idempotent":
        answer = sum(comb(n, k) * k ** (n - k) for k in range(1, n + 1))
        fixed = rng.randint(1, n - 1)
        if rng.random() < 0.6:
            answer = comb(n, fixed) * fixed ** (n - fixed)
            texts = WORDINGS.all(
                "functions 12", s=s, fixed=fixed, value="value" if fixed == 1 else "values"
            )
            texts = (
                *texts,
                WORDINGS.one(
                    "functions 5",
                    n=n,
                    fixed=fixed,
                    gets_a="gets a school" if fixed == 1 else "get schools",
                ),
            )
            values = {"ask": "idempotent image", "n": n, "size": fixed}
            return Problem(rng.choice(texts), str(answer), values)
        texts = WORDINGS.all("functions, idempotent", s=s, n=n)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})
    if ask == "no fixed":
        m = rng.randint(1, n - 1)
        answer = comb(n, m) * (n - 1) ** (n - m)
        texts = (
            WORDINGS.one(
                "functions", s=s, m=m, number_or_numbers="number" if m == 1 else "numbers"
            ),
            WORDINGS.one(
                "functions 6",
                n=n,
                m=m,
                person_points="person points at himself or herself"
                if m == 1
                else "people point at themselves",
            ),
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m})
    if ask == "step":
        n, m, reach = rng.randint(3, 6), rng.randint(3, 6), rng.choice((1, 2))
        ways = dict.fromkeys(range(1, m + 1), 1)
        for _ in range(n - 1):
            ways = {v: sum(times for u, times in ways.items() if abs(u - v) <= reach) for v in ways}
        texts = WORDINGS.all(
            "functions, step", n=n, m=m, reach=reach, floors="floor" if reach == 1 else "floors"
        )
        values = {"ask": ask, "n": n, "m": m, "reach": reach}
        return Problem(rng.choice(texts), str(sum(ways.values())), values)
    n, m = rng.randint(4, 6), rng.randint(3, 6)
    k = rng.randint(2, min(3, m - 1))
    answer = comb(m, k) * sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(k + 1))
    source = f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
    texts = WORDINGS.all(
        "functions 13", source=source, n1=", ".join(map(str, range(1, m + 1))), k=k, n=n, m=m
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "m": m, "k": k})


FAMILIES = (
    math_family("counting_fixed_points", _fixed_points, "things in their own or in wrong places"),
    math_family("counting_functions", _functions, "functions and sequences with a condition"),
)
