"""Problems on overlapping groups and on pairs such as handshakes."""

from __future__ import annotations

from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _surveys(rng: Random, level: int) -> Problem:
    who = rng.choice(("students", "club members", "tourists", "guests", "employees", "readers"))
    one, two, three = rng.sample(
        ("play chess", "speak Spanish", "own a bicycle", "sing in a choir", "like hiking",
         "read comics", "drink tea", "have a dog", "collect stamps", "swim every week"), 3
    )  # fmt: skip
    if level == 1:
        both, a, b, none = (rng.randint(3, 40) for _ in range(4))
        total = both + a + b + none
        ask = rng.choice(("both", "none", "exactly one"))
        counts = {"total": total, "one": a + both, "two": b + both}
        counts |= {"both": both} if ask == "none" else {"none": none}
        texts = WORDINGS.all(f"surveys of two, {ask}", who=who, one=one, two=two, counts=counts)
        answer = {"both": both, "none": none, "exactly one": a + b}[ask]
        values = {"ask": ask, **counts}
        return Problem(rng.choice(texts), str(answer), values)
    regions = [rng.randint(2, 25) for _ in range(8)]
    o, p, q, r, pq, pr, qr, pqr = regions
    sizes = [p + pq + pr + pqr, q + pq + qr + pqr, r + pr + qr + pqr]
    meets = [pq + pqr, pr + pqr, qr + pqr]
    total = sum(regions)
    if level == 2:
        ask = rng.choice(("all", "none", "exactly two", "exactly one"))
        facts = WORDINGS.one(
            "surveys facts", sizes=sizes, one=one, two=two, three=three, meets=meets
        )
        last = f"; {o} do none of the three." if ask == "all" else f"; {pqr} do all three."
        wish = WORDINGS.one(f"surveys {ask}")
        answer = {"all": pqr, "none": o, "exactly two": pq + pr + qr, "exactly one": p + q + r}[ask]
        texts = WORDINGS.all("surveys 17", total=total, who=who, facts=facts, last=last, wish=wish)
        values = {"ask": ask, "total": total, "sizes": sizes, "meets": meets}
        values |= {"none": o} if ask == "all" else {"three": pqr}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("least both", "most none", "least all", "exactly"))
    if ask == "exactly":
        twice = pq + pr + qr
        answer = pqr
        texts = WORDINGS.all(
            "surveys 18",
            total=total,
            who=who,
            sizes=sizes,
            one=one,
            two=two,
            three=three,
            o=o,
            twice=twice,
        )
        values = {"ask": ask, "total": total, "sizes": sizes, "none": o, "twice": twice}
        return Problem(rng.choice(texts), str(answer), values)
    total = rng.randint(40, 150)
    if ask == "least all":
        shares = redrawn(
            lambda: [rng.randint(total * 6 // 10, total - 3) for _ in range(3)],
            lambda s: sum(s) > 2 * total + 2,
        )
        answer = sum(shares) - 2 * total
        texts = WORDINGS.all(
            "surveys 19", total=total, who=who, shares=shares, one=one, two=two, three=three
        )
        return Problem(
            rng.choice(texts), str(answer), {"ask": ask, "total": total, "sizes": shares}
        )
    a, b = redrawn(
        lambda: (rng.randint(total // 3, total - 4), rng.randint(total // 3, total - 4)),
        lambda s: (sum(s) > total + 2) and s[0] != s[1],
    )
    low = max(0, a + b - total)
    if ask == "least both":
        answer = min(a, b) - low + 1
        texts = WORDINGS.all("surveys 20", total=total, who=who, a=a, one=one, b=b, two=two)
    else:
        answer = total - max(a, b)
        texts = WORDINGS.all("surveys 21", total=total, who=who, a=a, one=one, b=b, two=two)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "total": total, "sizes": [a, b]})


def _matches(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        ask = rng.choice(("handshakes", "find n", "two groups"))
        n = rng.randint(9, 40)
        if ask == "handshakes":
            k = rng.randint(3, n - 4)
            answer = comb(n, 2) - comb(k, 2)
            texts = WORDINGS.all("matches, level 1, handshakes", n=n, k=k)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "find n":
            games = rng.randint(1, 2)
            extra = rng.randint(0, 12)
            total = games * comb(n, 2) + extra
            times = {1: "once", 2: "twice"}[games]
            more = f" together with {extra} additional games" if extra else ""
            texts = WORDINGS.all("matches 4", times=times, more=more, total=total, extra=extra)
            values = {"ask": ask, "games": games, "total": total, "extra": extra}
            return Problem(texts[0 if not extra else rng.randrange(2)], str(n), values)
        a, b = rng.randint(4, 20), rng.randint(4, 20)
        answer = comb(a, 2) + comb(b, 2) + 2 * a * b
        texts = WORDINGS.all("matches, level 1", a=a, b=b)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "a": a, "b": b})
    if level == 2:
        ask = rng.choice(("couples", "diagonals", "intersections", "points"))
        n = rng.randint(6, 20)
        if ask == "couples":
            k = n
            m = rng.randint(1, 3)
            answer = comb(2 * k - m, 2) - (k - m)
            texts = WORDINGS.all(
                "matches, level 2, couples",
                k=k,
                m=m,
                has_or_have="has" if m == 1 else "have",
                does_or_do="does" if m == 1 else "do",
                who_has="woman has" if m == 1 else "women, from different couples, have",
                partners="her partner is" if m == 1 else "their partners are",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "couples": k, "missing": m})
        if ask == "diagonals":
            total = n * (n - 3) // 2
            extra = rng.randint(1, 5)
            answer = (n + extra) * (n + extra - 3) // 2
            texts = WORDINGS.all(
                "matches 2",
                total=total,
                extra=extra,
                side_or_sides="side" if extra == 1 else "sides",
                corner="corner" if extra == 1 else "corners",
            )
            values = {"ask": ask, "total": total, "more": extra}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "intersections":
            a, b = rng.randint(2, 7), rng.randint(2, 7)
            c = rng.randint(2, 5)
            answer = a * b + comb(c, 2) + c * (a + b)
            texts = WORDINGS.all("matches, level 2, intersections", a=a, b=b, c=c)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "a": a, "b": b, "c": c})
        k = rng.randint(3, n - 2)
        answer = comb(n, 3) - comb(k, 3)
        texts = WORDINGS.all("matches, level 2", n=n, k=k, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": "triangles", "n": n, "k": k})
    ask = rng.choice(("cups", "parallel", "polygon triangles", "left early"))
    if ask == "cups":
        groups, size = rng.randint(3, 8), rng.randint(3, 6)
        through = rng.randint(1, 2)
        finalists = groups * through
        answer = groups * comb(size, 2) + finalists - 1
        third = rng.random() < 0.5
        answer += third
        word = "the best team" if through == 1 else "the two best teams"
        texts = WORDINGS.all(
            "matches, cups",
            groups=groups,
            size=size,
            capitalize_word=word.capitalize(),
            goes_or_go="goes" if through == 1 else "go",
            third_place_game="; an extra game decides about third place" if third else "",
            groups_times_size=groups * size,
            player=word.replace("team", "player"),
            advances_or_advance="advances" if through == 1 else "advance",
            plus_one_game=" (plus one game for third place)" if third else "",
        )
        values = {"ask": ask, "groups": groups, "size": size, "through": through, "third": third}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "left early":
        n = rng.randint(9, 30)
        played = rng.randint(2, n - 3)
        total = comb(n - 1, 2) + played
        texts = WORDINGS.all("matches, left early", played=played, total=total)
        values = {"ask": ask, "played": played, "total": total}
        return Problem(rng.choice(texts), str(n), values)
    if ask == "polygon triangles":
        n = rng.randint(7, 16)
        j = rng.choice((0, 1))
        answer = n * (n - 4) * (n - 5) // 6 if j == 0 else n * (n - 4)
        wish = WORDINGS.all("matches, polygon triangles")[j]
        texts = WORDINGS.all("matches, polygon triangles, 2", n=n, wish=wish)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "sides": j})
    a, b, c = rng.randint(2, 6), rng.randint(2, 6), rng.randint(2, 4)
    answer = comb(a, 2) * comb(b, 2) + comb(a, 2) * comb(c, 2) + comb(b, 2) * comb(c, 2)
    texts = WORDINGS.all("matches", a=a, b=b, c=c)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "lines": [a, b, c]})


FAMILIES = (
    math_family("counting_surveys", _surveys, "two or three overlapping groups"),
    math_family("counting_matches", _matches, "handshakes, games, diagonals and crossings"),
)
