"""Overlapping groups in surveys, and pairs that meet: handshakes, games, diagonals, crossings.

Leaves out: selections with conditions (``selections``).
"""

from __future__ import annotations

from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family


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
        if ask == "both":
            texts = phrasings(
                f"Of {total} {who}, {a + both} {one}, {b + both} {two}, and {none} do neither. How "
                "many do both?",
                f"A survey of {total} {who} finds that {none} of them do not do either of two "
                "things: "
                f"{a + both} {one} and {b + both} {two}. Find the number of {who} to whom both "
                "statements apply.",
            )
            answer = both
            values = {"ask": ask, "total": total, "one": a + both, "two": b + both, "none": none}
        elif ask == "none":
            texts = phrasings(
                f"Among {total} {who}, {a + both} {one} and {b + both} {two}; {both} of these do "
                "both. "
                "How many do neither?",
                f"{total} {who} were asked two questions. {a + both} of them {one}, {b + both} "
                "of them "
                f"{two}, and for {both} of them both are true. For how many is neither true?",
            )
            answer = none
            values = {"ask": ask, "total": total, "one": a + both, "two": b + both, "both": both}
        else:
            texts = phrasings(
                f"In a group of {total} {who}, {a + both} {one}, {b + both} {two} and {none} do "
                "neither of the two. How many do exactly one of the two?",
                f"Each of {total} {who} was asked about two habits. It turned out that {a + both} "
                f"{one} and {b + both} {two}, while {none} have neither habit. Exactly one habit "
                "is "
                "true of how many?",
            )
            answer = a + b
            values = {"ask": ask, "total": total, "one": a + both, "two": b + both, "none": none}
        return Problem(rng.choice(texts), str(answer), values)
    regions = [rng.randint(2, 25) for _ in range(8)]
    o, p, q, r, pq, pr, qr, pqr = regions
    sizes = [p + pq + pr + pqr, q + pq + qr + pqr, r + pr + qr + pqr]
    meets = [pq + pqr, pr + pqr, qr + pqr]
    total = sum(regions)
    if level == 2:
        ask = rng.choice(("all", "none", "exactly two", "exactly one"))
        facts = (
            f"{sizes[0]} {one}, {sizes[1]} {two} and {sizes[2]} {three}. Moreover, {meets[0]} "
            f"{one} and {two}, {meets[1]} {one} and {three}, and {meets[2]} {two} and {three}"
        )
        last = f"; {o} do none of the three." if ask == "all" else f"; {pqr} do all three."
        wish = {
            "all": "How many do all three?",
            "none": "How many do none of the three?",
            "exactly two": "How many do exactly two of the three?",
            "exactly one": "How many do exactly one of the three?",
        }[ask]
        answer = {"all": pqr, "none": o, "exactly two": pq + pr + qr, "exactly one": p + q + r}[ask]
        texts = phrasings(
            f"Of {total} {who}, {facts}{last} (People who do all three are counted in each of "
            "these "
            f"numbers.) {wish}",
            f"A questionnaire was answered by {total} {who}. Among them, {facts}, where those "
            "who do "
            f"all three are included in every one of these numbers{last} {wish}",
        )
        values = {"ask": ask, "total": total, "sizes": sizes, "meets": meets}
        values |= {"none": o} if ask == "all" else {"three": pqr}
        return Problem(rng.choice(texts), str(answer), values)
    ask = rng.choice(("least both", "most none", "least all", "exactly"))
    if ask == "exactly":
        twice = pq + pr + qr
        answer = pqr
        texts = phrasings(
            f"Each of {total} {who} was asked about three habits. {sizes[0]} {one}, {sizes[1]} "
            f"{two}, "
            f"{sizes[2]} {three}, and {o} have none of these habits. Exactly {twice} have "
            "exactly two "
            "of them. How many have all three?",
            f"In a group of {total} {who}, {o} do none of the following: {one}, {two}, {three}. "
            "There "
            f"are {sizes[0]} who {one}, {sizes[1]} who {two} and {sizes[2]} who {three}. If "
            f"{twice} "
            f"{who} do exactly two of the three, how many do all three?",
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
        texts = phrasings(
            f"Of {total} {who}, {shares[0]} {one}, {shares[1]} {two} and {shares[2]} {three}. "
            "What is "
            "the smallest number of them that can do all three?",
            f"There are {total} {who}. It is known that {shares[0]} of them {one}, that "
            f"{shares[1]} "
            f"{two} and that {shares[2]} {three}. At least how many must do all three of these?",
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
        texts = phrasings(
            f"Of {total} {who}, {a} {one} and {b} {two}. How many different values are possible "
            "for "
            "the number of those who do both?",
            f"It is known that {a} of {total} {who} {one} and that {b} of them {two}. Nothing is "
            "known "
            "about how the two groups overlap. How many values can the number of people in both "
            "groups "
            "have?",
        )
    else:
        answer = total - max(a, b)
        texts = phrasings(
            f"Of {total} {who}, {a} {one} and {b} {two}. At most how many can there be who do "
            "neither?",
            f"{a} out of {total} {who} {one}, and {b} {two}. What is the greatest possible "
            "number of "
            f"{who} who do neither of the two?",
        )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "total": total, "sizes": [a, b]})


def _matches(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        ask = rng.choice(("handshakes", "find n", "two groups"))
        n = rng.randint(9, 40)
        if ask == "handshakes":
            k = rng.randint(3, n - 4)
            answer = comb(n, 2) - comb(k, 2)
            texts = phrasings(
                f"At a meeting of {n} people, {k} know each other already. Everyone shakes hands "
                "once "
                f"with everyone else, except that the {k} do not shake hands among themselves. How "
                "many handshakes are there?",
                f"{n} towns are to be linked by direct bus lines, one for each pair of towns, but "
                f"the {k} towns on the coast already have lines among themselves. How many new "
                "lines "
                "are needed?",
                f"{n} points are given, {k} of which lie on one straight line; apart from that, no "
                "three of the points are on a line. How many segments join two of the points "
                "that are "
                "not both on that line?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "find n":
            games = rng.randint(1, 2)
            extra = rng.randint(0, 12)
            total = games * comb(n, 2) + extra
            times = {1: "once", 2: "twice"}[games]
            more = f" together with {extra} additional games" if extra else ""
            texts = phrasings(
                f"In a chess club every member plays {times} against every other member. This"
                f"{more} makes {total} games. How many members does the club have?",
                f"A league lets each team meet each other team {times}. Counting {extra} extra "
                "games "
                f"for the final stage, {total} games are played in the season. How many teams "
                "are in "
                "the league?",
            )
            values = {"ask": ask, "games": games, "total": total, "extra": extra}
            return Problem(texts[0 if not extra else rng.randrange(2)], str(n), values)
        a, b = rng.randint(4, 20), rng.randint(4, 20)
        answer = comb(a, 2) + comb(b, 2) + 2 * a * b
        texts = phrasings(
            f"A tournament has two groups of {a} and {b} teams. Every team plays once against each "
            "team of its own group and twice against each team of the other group. How many games "
            "are played?",
            f"{a} artists and {b} writers exchange greetings: two people of the same profession "
            "shake "
            "hands once, and two people of different professions shake hands twice. Find the "
            "number "
            "of handshakes.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "a": a, "b": b})
    if level == 2:
        ask = rng.choice(("couples", "diagonals", "intersections", "points"))
        n = rng.randint(6, 20)
        if ask == "couples":
            k = n
            m = rng.randint(1, 3)
            answer = comb(2 * k - m, 2) - (k - m)
            texts = phrasings(
                f"{k} married couples attend a party. Everyone shakes hands once with everyone "
                "except "
                f"his or her own spouse, but {m} of the men "
                f"{'has' if m == 1 else 'have'} a cold and {'does' if m == 1 else 'do'} not shake "
                "hands with anybody. How many handshakes take place?",
                f"At a dance, {k} couples greet each other: any two people who do not belong to "
                "the "
                f"same couple bow to each other once, a bow by both counting as one greeting. "
                f"However, {m} {'woman has' if m == 1 else 'women, from different couples, have'} "
                f"already left, while {'her partner is' if m == 1 else 'their partners are'} still "
                "there. How many greetings are there?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "couples": k, "missing": m})
        if ask == "diagonals":
            total = n * (n - 3) // 2
            extra = rng.randint(1, 5)
            answer = (n + extra) * (n + extra - 3) // 2
            texts = phrasings(
                f"A convex polygon has {total} diagonals. How many diagonals does a convex polygon "
                f"with {extra} more {'side' if extra == 1 else 'sides'} have?",
                f"The corners of a convex polygon are joined by {total} diagonals in all. If the "
                f"polygon had {extra} further {'corner' if extra == 1 else 'corners'}, how many "
                "diagonals would it have?",
            )
            values = {"ask": ask, "total": total, "more": extra}
            return Problem(rng.choice(texts), str(answer), values)
        if ask == "intersections":
            a, b = rng.randint(2, 7), rng.randint(2, 7)
            c = rng.randint(2, 5)
            answer = a * b + comb(c, 2) + c * (a + b)
            texts = phrasings(
                f"In a plane, {a} parallel lines are crossed by {b} lines that are parallel to "
                "each "
                f"other in another direction. Then {c} more lines are drawn, no two of them "
                "parallel "
                "and none parallel to an earlier line, and no three lines meet in one point. In "
                "how "
                "many points do two of the lines cross?",
                f"A city map shows {a} straight streets running east to west, {b} running north to "
                f"south, and {c} further straight avenues in pairwise different slanting "
                "directions. "
                "All are extended without end, and no three meet in a point. How many crossings "
                "are "
                "there?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "a": a, "b": b, "c": c})
        k = rng.randint(3, n - 2)
        answer = comb(n, 3) - comb(k, 3)
        texts = phrasings(
            f"Of {n} points in the plane, {k} lie on one line; no other three points are on a "
            "line. "
            "How many triangles have their three corners among the points?",
            f"{who} marks {n} points on a sheet, {k} of them along a ruler and the others so "
            "that no "
            "further three are in line. How many triangles with corners at marked points can be "
            "drawn?",
        )
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
        texts = phrasings(
            f"A tournament starts with {groups} groups of {size} teams; within a group everybody "
            "plays "
            f"everybody once. {word.capitalize()} of each group "
            f"{'goes' if through == 1 else 'go'} on to a knockout stage, in which "
            "the loser of each game is out until one winner is left"
            f"{'; an extra game decides about third place' if third else ''}. How many games are "
            "played altogether?",
            f"{groups * size} players are divided into {groups} equal groups, and each pair "
            "within a "
            f"group plays one game. From every group, {word.replace('team', 'player')} "
            f"{'advances' if through == 1 else 'advance'} to an elimination round, where a "
            "player who "
            "loses a game drops out, until a champion is found"
            f"{' (plus one game for third place)' if third else ''}. What is the total number of "
            "games?",
        )
        values = {"ask": ask, "groups": groups, "size": size, "through": through, "third": third}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "left early":
        n = rng.randint(9, 30)
        played = rng.randint(2, n - 3)
        total = comb(n - 1, 2) + played
        texts = phrasings(
            "In a tournament everybody was to play everybody else exactly once. After one "
            "player had "
            f"played {played} games, this player left, and the games still missing against this "
            "player "
            f"were cancelled; all other games took place. In all, {total} games were played. How "
            "many "
            "players had there been at the start?",
            "Everyone at a party shakes hands with everyone else, except for one guest, who "
            "arrives "
            f"late and shakes only {played} hands. There are {total} handshakes. How many people "
            "are "
            "at the party?",
        )
        values = {"ask": ask, "played": played, "total": total}
        return Problem(rng.choice(texts), str(n), values)
    if ask == "polygon triangles":
        n = rng.randint(7, 16)
        j = rng.choice((0, 1))
        answer = n * (n - 4) * (n - 5) // 6 if j == 0 else n * (n - 4)
        wish = (
            "no side of the triangle is a side of the polygon",
            "exactly one side of the triangle is a side of the polygon",
        )[j]
        texts = phrasings(
            f"How many triangles have their corners at three corners of a convex polygon with {n} "
            f"sides in such a way that {wish}?",
            f"Three of the {n} corners of a convex {n}-sided polygon are chosen as the corners "
            "of a "
            f"triangle. For how many choices is it true that {wish}?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "sides": j})
    a, b, c = rng.randint(2, 6), rng.randint(2, 6), rng.randint(2, 4)
    answer = comb(a, 2) * comb(b, 2) + comb(a, 2) * comb(c, 2) + comb(b, 2) * comb(c, 2)
    texts = phrasings(
        f"In the plane there are {a} parallel lines in one direction, {b} parallel lines in a "
        "second "
        f"and {c} in a third direction. How many parallelograms have all their sides on these "
        "lines?",
        f"Three families of parallel lines, with {a}, {b} and {c} lines, are drawn in three "
        "different "
        "directions. Count the parallelograms that they form (each side lies on one of the lines).",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "lines": [a, b, c]})


FAMILIES = (
    math_family("counting_surveys", _surveys, "two or three overlapping groups"),
    math_family("counting_matches", _matches, "handshakes, games, diagonals and crossings"),
)
