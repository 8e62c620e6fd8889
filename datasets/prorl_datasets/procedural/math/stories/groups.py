"""Word problems on overlapping sets, elections, averages and tournaments."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import article, people, told
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

_TASTES = (
    ("students", "of a school", ("play an instrument", "do a sport", "sing in the choir")),
    ("guests", "at a wedding", ("eat fish", "drink wine", "dance")),
    ("tourists", "on a tour", ("speak French", "speak Spanish", "speak German")),
    ("readers", "of a library", ("borrow novels", "borrow comics", "borrow films")),
    ("customers", "of a café", ("order tea", "order cake", "order a sandwich")),
    ("employees", "of a firm", ("come by bike", "bring their own lunch", "have children")),
)


def _negated(verb: str) -> str:
    return f"do not {verb}"


def _two_sets(rng: Random) -> Problem:
    who, where, verbs = rng.choice(_TASTES)
    v, w = rng.sample(verbs, 2)
    only_v, only_w, both, none = (rng.randint(3, 40) for _ in range(4))
    n = only_v + only_w + both + none
    how = rng.choice(("none", "both", "one"))
    end = WORDINGS.one(f"two sets {how}")
    facts = [f"{only_v + both} {v}.", f"{only_w + both} {w}."]
    if how == "both":
        facts.append(
            rng.choice((f"{none} do neither.", f"{none} {_negated(v)} and {_negated(w)}."))
        )
    else:
        facts.append(f"{both} do both.")
    say = told(
        rng,
        facts[:2],
        f"{facts[2]} {end}",
        WORDINGS.draw(rng, "two sets", n=n, who=who, where=where),
    )
    answer = {"none": none, "both": both, "one": only_v + only_w}[how]
    return posed(
        "two_sets",
        say,
        answer,
        n=n,
        sets=[only_v + both, only_w + both],
        third=none if how == "both" else both,
        how=how,
    )


def _three_sets(rng: Random) -> Problem:
    who, where, verbs = rng.choice(_TASTES)
    a, b, c = verbs
    cells = {key: rng.randint(2, 20) for key in ("a", "b", "c", "ab", "ac", "bc", "abc", "")}
    n = sum(cells.values())
    size = {k: sum(v for key, v in cells.items() if k in key) for k in "abc"}
    pair = {k: sum(v for key, v in cells.items() if set(k) <= set(key)) for k in ("ab", "ac", "bc")}
    how = rng.choice(("none", "all", "one"))
    facts = [
        f"{size['a']} {a}, {size['b']} {b} and {size['c']} {c}.",
        (
            f"{pair['ab']} {a} and {b} (perhaps doing the third thing, too); likewise {pair['ac']} {a} and "
            f"{c}, and {pair['bc']} {b} and {c}."
        ),
    ]
    last = WORDINGS.one(f"three sets {how}", abc=cells["abc"], value=cells[""])
    start = rng.choice((f"Of {n} {who} {where},", f"Among the {n} {who} {where},"))
    first, second = facts
    say = pick(
        rng,
        f"{start} {first} {second} {last}",
        f"{start} {second[0].lower()}{second[1:]} Altogether {first} {last}",
    )
    answer = {"none": cells[""], "all": cells["abc"], "one": cells["a"] + cells["b"] + cells["c"]}[
        how
    ]
    third = cells[""] if how == "all" else cells["abc"]
    return posed(
        "three_sets",
        say,
        answer,
        n=n,
        sets=[size[k] for k in "abc"],
        pairs=[pair[k] for k in ("ab", "ac", "bc")],
        third=third,
        how=how,
    )


def _shares_of_sets(rng: Random) -> Problem:
    who, where, verbs = rng.choice(_TASTES)
    v, w = rng.sample(verbs, 2)
    n = rng.randint(3, 30) * 20
    p, q = rng.randint(6, 16) * 5, rng.randint(5, 15) * 5
    both = redrawn(lambda: rng.randint(1, 12) * 5, lambda x: x < min(p, q) and p + q - x < 100)
    none = 100 - (p + q - both)
    given = n * none // 100
    ask = rng.choice(("both", "only"))
    if n * none % 100 or n * both % 100 or n * (p - both) % 100:
        return _shares_of_sets(rng)
    want = f"How many {v} and also {w}?" if ask == "both" else f"How many {v} but {_negated(w)}?"
    say = WORDINGS.draw(
        rng,
        "shares of sets",
        p=p,
        who=who,
        where=where,
        v=v,
        q=q,
        w=w,
        both=both,
        given=given,
        want=want,
    )
    return posed(
        "shares",
        say,
        n * both // 100 if ask == "both" else n * (p - both) // 100,
        rates=[p, q, both],
        none=given,
        asked=ask,
    )


_POSTS = ("mayor", "class president", "chair of a club", "village elder", "head of the council")


def _votes(rng: Random) -> Problem:
    p, q, r = people(rng, 3)
    post = rng.choice(_POSTS)
    n = rng.randint(4, 60) * 20
    a, b = redrawn(
        lambda: (rng.randint(6, 14) * 5, rng.randint(2, 9) * 5), lambda t: t[0] + t[1] < 95
    )
    third = n * (100 - a - b) // 100
    ask = rng.choice(("third", "lead"))
    want = (
        f"How many votes did {r.name} get?"
        if ask == "third"
        else f"By how many votes did {p.name} lead over {q.name}?"
    )
    if ask == "lead" and a <= b:
        return _votes(rng)
    say = WORDINGS.draw(rng, "votes", n=n, post=post, a=a, p=p, b=b, q=q, r=r, want=want)
    return posed(
        "votes", say, third if ask == "third" else n * (a - b) // 100, n=n, rates=[a, b], asked=ask
    )


def _votes_back(rng: Random) -> Problem:
    p, q = people(rng, 2)
    post = rng.choice(_POSTS)
    turnout, invalid = rng.choice((40, 50, 60, 70, 75, 80)), rng.choice((2, 4, 5, 10))
    share = rng.choice((52, 54, 55, 56, 58, 60, 64, 65))
    n = rng.randint(2, 60) * 100
    valid = Fraction(n * turnout * (100 - invalid), 10000)
    lead = valid * (2 * share - 100) / 100
    if any(
        v.denominator > 1 for v in (valid, lead, valid * share / 100, Fraction(n * turnout, 100))
    ):
        return _votes_back(rng)
    ask = rng.choice(("lead", "loser"))
    answer = lead if ask == "lead" else valid * (100 - share) / 100
    want = (
        f"By how many votes did {p.name} win?"
        if ask == "lead"
        else f"How many votes did {q.name} get?"
    )
    say = WORDINGS.draw(
        rng,
        "votes back",
        n=n,
        post=post,
        turnout=turnout,
        invalid=invalid,
        share=share,
        p=p,
        q=q,
        want=want,
    )
    return posed("turnout", say, answer, n=n, rates=[turnout, invalid, share], asked=ask)


def _lead_back(rng: Random) -> Problem:
    p, q, r = people(rng, 3)
    post = rng.choice(_POSTS)
    a, b, c = (rng.randint(20, 400) for _ in range(3))
    total, lead, gap = a + b + c, a - b, b - c
    if lead < 3 or gap < 3:
        return _lead_back(rng)
    how = rng.choice(("votes", "tie"))
    if how == "votes":
        ask = rng.choice((0, 1, 2))
        who = (p, q, r)[ask]
        say = WORDINGS.draw(
            rng, "lead back", total=total, p=p, q=q, r=r, lead=lead, gap=gap, who=who, post=post
        )
        return posed("leads", say, (a, b, c)[ask], total=total, gaps=[lead, gap], asked=ask)
    need = lead // 2 + 1
    say = WORDINGS.one("lead back 2", a_plus_b=a + b, post=post, p=p, q=q, lead=lead)
    return posed("swing", say, need, total=a + b, lead=lead)


def _plain_average(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    n = rng.randint(3, 5)
    scores = [rng.randint(55, 98) for _ in range(n)]
    target = rng.randint(70, 92)
    need = target * (n + 1) - sum(scores)
    if not 40 <= need <= 100:
        return _plain_average(rng)
    listed = ", ".join(str(s) for s in scores[:-1]) + f" and {scores[-1]}"
    say = WORDINGS.draw(
        rng, "plain average", n_plus_one=n + 1, p=p, target=target, listed=listed, n=n
    )
    return posed("average", say, need, scores=scores, target=target)


_TEAMS = (("players", "team", "height", "cm", 160, 205), ("pupils", "class", "weight", "kg", 35, 70),
          ("members", "band", "age", "years", 18, 60), ("rowers", "crew", "weight", "kg", 60, 95))  # fmt: skip


def _swap(rng: Random) -> Problem:
    who, team, what, u, low, high = rng.choice(_TEAMS)
    n, mean, change = (
        rng.randint(4, 15),
        rng.randint(low + 10, high - 10),
        rng.choice((-2, -1, 1, 2, 3)),
    )
    out = rng.randint(low, high)
    new = out + n * change
    if not low - 10 < new < high + 10:
        return _swap(rng)
    moved = "rises" if change > 0 else "falls"
    ask = rng.choice(("new", "mean"))
    if ask == "new":
        say = WORDINGS.draw(
            rng,
            "swap",
            what=what,
            article_what=article(what),
            n=n,
            who=who,
            team=team,
            mean=mean,
            u=u,
            out=out,
            moved=moved,
            change=abs(change),
            one_u=_one(u, abs(change)),
            mean_plus_change=mean + change,
        )
        second = mean + change if "which was" in say else abs(change)
        return posed(
            "swap",
            say,
            new,
            n=n,
            mean=mean,
            out=out,
            second=second,
            up=change > 0,
            full="which was" in say,
        )
    say = WORDINGS.one(
        "swap 2",
        what=what,
        team=team,
        n=n,
        who=who,
        mean=mean,
        u=u,
        article_what=article(what),
        out=out,
        new=new,
    )
    return posed("joined", say, mean + change, n=n, mean=mean, out=out, new=new)


def _one(u: str, n: int) -> str:
    return "year" if u == "years" and n == 1 else u


def _groups_average(rng: Random) -> Problem:
    p, q = rng.sample(("morning", "evening", "weekend", "online"), 2)
    x, y = rng.randint(5, 40), rng.randint(5, 40)
    a, b = redrawn(lambda: (rng.randint(50, 95), rng.randint(50, 95)), lambda t: t[0] != t[1])
    total = x * a + y * b
    if total % (x + y) or total // (x + y) in (a, b):
        return _groups_average(rng)
    mean = total // (x + y)
    ask = rng.choice(("size", "mean"))
    if ask == "size":
        say = WORDINGS.draw(
            rng,
            "groups average",
            p=p,
            a=a,
            q=q,
            b=b,
            x=x,
            mean=mean,
            article_p=article(p),
            article_q=article(q),
        )
        return posed("size", say, y, x=x, means=[a, b], mean=mean)
    say = WORDINGS.one("groups average 2", x=x, p=p, y=y, q=q, mean=mean, a=a)
    return posed("other_mean", say, b, sizes=[x, y], mean=mean, first=a)


def _league(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    win, draw = rng.choice(((3, 1), (2, 1), (4, 2)))
    w, d, lost = rng.randint(3, 18), rng.randint(1, 10), rng.randint(1, 10)
    say = WORDINGS.draw(rng, "league", games=w + d + lost, lost=lost, w=w, win=win, draw=draw, p=p)
    return posed(
        "league", say, win * w + draw * d, points=[win, draw], games=w + d + lost, won=w, lost=lost
    )


def _round_robin(rng: Random) -> Problem:
    n, win, draw = rng.randint(5, 16), 3, 1
    games = n * (n - 1) // 2
    draws = rng.randint(2, games // 2)
    total = win * (games - draws) + 2 * draw * draws
    how = rng.choice(("points", "draws"))
    rule = WORDINGS.draw(rng, "round robin", n=n)
    score = WORDINGS.one("round robin score", win=win, draw=draw)
    if how == "points":
        say = WORDINGS.draw(rng, "round robin, points", rule=rule, score=score, draws=draws)
        return posed("robin", say, total, n=n, win=win, given=draws, how=how)
    say = f"{rule} {score} At the end, all teams together have {total} points. How many games were drawn?"
    return posed("robin", say, draws, n=n, win=win, given=total, how=how)


def _quiz(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    n = rng.randint(15, 40)
    plus, minus = rng.randint(3, 6), rng.randint(1, 3)
    right = rng.randint(n // 3, n - 4)
    blank = rng.randint(0, n - right - 1)
    wrong = n - right - blank
    score = plus * right - minus * wrong
    if score < 5 or blank == 1:
        return _quiz(rng)
    left = f" {p.He} left {blank} unanswered." if blank else f" {p.He} answered all of them."
    say = WORDINGS.draw(
        rng,
        "quiz",
        n=n,
        plus=plus,
        minus=minus,
        point_is_or_points_are="point is" if minus == 1 else "points are",
        p=p,
        score=score,
        left=left,
        point_or_points="point" if minus == 1 else "points",
    )
    return posed("quiz", say, right, n=n, marks=[plus, minus], score=score, blank=blank)


FAMILIES = (
    of_kinds(
        "stories_overlaps", (_two_sets,), (_shares_of_sets,), (_three_sets,), "overlapping groups"
    ),
    of_kinds("stories_elections", (_votes,), (_votes_back,), (_lead_back,), "votes and leads"),
    of_kinds(
        "stories_averages", (_plain_average,), (_swap,), (_groups_average,), "averages that change"
    ),
    of_kinds("stories_tournaments", (_league,), (_round_robin,), (_quiz,), "points and games"),
)
