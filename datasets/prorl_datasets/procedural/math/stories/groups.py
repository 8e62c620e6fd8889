"""Groups: overlapping sets, elections, averages, tournaments."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import article, people, told

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
    end = {
        "none": "How many do neither?",
        "both": "How many do both?",
        "one": "How many do exactly one of the two?",
    }[how]
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
        rng.choice(
            (
                f"There are {n} {who} {where}.",
                f"All {n} {who} {where} were asked about their habits.",
                f"A survey covered {n} {who} {where}.",
            )
        ),
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
    last = {
        "none": f"{cells['abc']} do all three. How many do none of the three?",
        "one": f"{cells['abc']} do all three. How many do exactly one of the three?",
        "all": f"{cells['']} do none of the three. How many do all three?",
    }[how]
    start = rng.choice((f"Of {n} {who} {where},", f"Among the {n} {who} {where},"))
    first, second = facts
    say = rng.choice(
        (
            f"{start} {first} {second} {last}",
            f"{start} {second[0].lower()}{second[1:]} Altogether {first} {last}",
        )
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
    say = rng.choice(
        (
            (
                f"{p}% of the {who} {where} {v}, {q}% {w}, and {both}% do both. The remaining {given} do "
                f"neither. {want}"
            ),
            (
                f"Only {given} of the {who} {where} do neither of two things: {p} percent {v} and {q} percent "
                f"{w}, {both} percent doing both. {want}"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"When the {n} votes for {post} had been counted, {a}% were found to be for {p.name}, {b}% for {q.name} and "
                f"the others for {r.name}. {want}"
            ),
            (
                f"{n} valid votes were cast in the election of a {post}. {p.name} won {a}% of them, {q.name} "
                f"{b}%, and {r.name} all the rest. {want}"
            ),
            (
                f"Three people ran for {post}. Of {n} votes, {a} percent were for {p.name} and {b} percent for "
                f"{q.name}; the others were for {r.name}. {want}"
            ),
        )
    )
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
    say = rng.choice(
        (
            (
                f"Out of {n} people entitled to choose a new {post}, {turnout}% handed in a ballot paper. {invalid}% of the "
                f"papers were void; {share}% of the good ones were for {p.name} and all others for {q.name}. {want}"
            ),
            (
                f"A town has {n} people who may vote. {turnout}% of them voted for a new {post}, and {invalid}% "
                f"of the votes were invalid. {p.name} got {share}% of the valid votes and {q.name}, the only "
                f"other candidate, got the rest. {want}"
            ),
            (
                f"{p.name} and {q.name} were the two candidates for {post}. Of {n} voters, {turnout} percent "
                f"took part; {invalid} percent of their ballots did not count. Of the ballots that counted, "
                f"{share} percent named {p.name}. {want}"
            ),
        )
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
        say = rng.choice(
            (
                (
                    f"{total} votes were divided among {p.name}, {q.name} and {r.name}. {p.name} beat {q.name} "
                    f"by {lead} votes, and {q.name} beat {r.name} by {gap}. How many votes did {who.name} get?"
                ),
                (
                    f"In the vote for {post}, {r.name} came in {gap} votes behind {q.name}, who in turn was "
                    f"{lead} behind {p.name}. {total} votes were given to the three. Find the number of votes "
                    f"for {who.name}."
                ),
            )
        )
        return posed("leads", say, (a, b, c)[ask], total=total, gaps=[lead, gap], asked=ask)
    need = lead // 2 + 1
    say = (
        f"{a + b} people voted for a {post}, and {p.name} beat {q.name} by {lead} votes. At least how many "
        f"of {p.name}'s voters would have had to vote for {q.name} instead for {q.name} to win?"
    )
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
    say = rng.choice(
        (
            (
                f"What result on test number {n + 1} would bring {p.name}'s average to exactly {target}, after results of "
                f"{listed} on the tests before?"
            ),
            (
                f"{p.name}'s scores on {n} tests are {listed}. What must {p.he} score on the next test for an "
                f"average of exactly {target}?"
            ),
            (
                f"On {n} tests {p.name} got {listed} points. {p.He} wants the mean of {n + 1} tests to be "
                f"{target}. How many points does {p.he} need on the last one?"
            ),
        )
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
        say = rng.choice(
            (
                (
                    f"The average {what} of the {n} {who} in a {team} is {mean} {u}. When one of them, with a "
                    f"{what} of {out} {u}, is replaced by somebody else, the average {moved} by {abs(change)} "
                    f"{_one(u, abs(change))}. What is the {what} of the newcomer, in {u}?"
                ),
                (
                    f"A {team} has {n} {who}. One whose {what} is {out} {u} leaves and a new one comes; because "
                    f"of this the average {what}, which was {mean} {u}, {moved} to {mean + change} {u}. Find the "
                    f"newcomer's {what} in {u}."
                ),
            )
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
    say = (
        f"The average {what} in a {team} of {n} {who} is {mean} {u}. Somebody with {article(what)} of {out} {u} "
        f"leaves, and somebody with {article(what)} of {new} {u} joins. What is the average {what} now, in {u}?"
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
        say = rng.choice(
            (
                (
                    f"In a course, the {p} group averaged {a} points on the final test and the {q} group "
                    f"{b} points. There were {x} people in the {p} group, and the average of all was {mean} "
                    f"points. How many people were in the {q} group?"
                ),
                (
                    f"The mean score of {x} people in {article(p)} group was {a}. Together with {article(q)} group whose mean "
                    f"score was {b}, the mean is {mean}. What is the size of the {q} group?"
                ),
            )
        )
        return posed("size", say, y, x=x, means=[a, b], mean=mean)
    say = (
        f"A test was written by {x} people of the {p} group and {y} of the {q} group. The mean of all was "
        f"{mean} points, that of the {p} group alone was {a} points. What was the mean of the {q} group?"
    )
    return posed("other_mean", say, b, sizes=[x, y], mean=mean, first=a)


def _league(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    win, draw = rng.choice(((3, 1), (2, 1), (4, 2)))
    w, d, lost = rng.randint(3, 18), rng.randint(1, 10), rng.randint(1, 10)
    say = rng.choice(
        (
            (
                f"How many points has a team collected that has played {w + d + lost} matches, lost {lost} of them and won "
                f"{w}, if a win is worth {win} points and each of the remaining matches, a draw, {draw}?"
            ),
            (
                f"In a league a win brings {win} points, a draw {draw} and a defeat none. {p.name}'s team "
                f"played {w + d + lost} games, won {w} of them and lost {lost}. How many points does it have?"
            ),
            (
                f"A team has {w} wins and {lost} defeats after {w + d + lost} games. All its other games were "
                f"draws. With {win} points for a win and {draw} for a draw, what is its total?"
            ),
        )
    )
    return posed(
        "league", say, win * w + draw * d, points=[win, draw], games=w + d + lost, won=w, lost=lost
    )


def _round_robin(rng: Random) -> Problem:
    n, win, draw = rng.randint(5, 16), 3, 1
    games = n * (n - 1) // 2
    draws = rng.randint(2, games // 2)
    total = win * (games - draws) + 2 * draw * draws
    how = rng.choice(("points", "draws"))
    rule = rng.choice(
        (
            f"{n} teams play a tournament in which each meets every other exactly once.",
            f"In a tournament of {n} teams every two teams play one game against each other.",
        )
    )
    score = (
        f"The winner of a game gets {win} points, the loser none; for a draw both get {draw} point."
    )
    if how == "points":
        say = rng.choice(
            (
                (
                    f"{rule} {score} {draws} of the games are drawn. What is the sum of the points of all teams at "
                    "the end?"
                ),
                (
                    f"{rule} {score} If {draws} games end in a draw, how many points do all the teams have altogether when "
                    "every game has been played?"
                ),
            )
        )
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
    say = rng.choice(
        (
            (
                f"In a test with {n} questions, right answers are worth {plus} points each, and {minus} "
                f"{'point is' if minus == 1 else 'points are'} taken off for each wrong answer; a question without an answer "
                f"changes nothing. The result of {p.name} was {score} points.{left} How many right answers did {p.he} give?"
            ),
            (
                f"A quiz has {n} questions. A right answer brings {plus} points, a wrong one costs {minus} "
                f"{'point' if minus == 1 else 'points'}, no answer counts 0. {p.name} scored {score} points."
                f"{left} How many of {p.his} answers were right?"
            ),
            (
                f"{p.name} took part in a contest of {n} questions and ended with {score} points, {plus} being "
                f"given for each right answer and {minus} taken away for each wrong one.{left} How many "
                f"questions did {p.he} get right?"
            ),
        )
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
