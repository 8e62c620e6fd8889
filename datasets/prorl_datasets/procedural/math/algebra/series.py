"""Problems on sums and recurrences."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import factorial
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, power, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _times(factor: int, body: str) -> str:
    r"""Return ``3 \cdot 2^k``, or ``2^k`` for factor 1."""
    return body if factor == 1 else f"{factor} \\cdot {body}"


def _sum_question(
    rng: Random, general: str, first: int, last: str, plain: str, finite: bool
) -> str:
    sigma = f"\\sum_{{k={first}}}^{{{last}}} {general}"
    if finite:
        return WORDINGS.draw(
            rng,
            "sum question, finite",
            sigma=sigma,
            plain=plain,
            general=general,
            first=first,
            first_plus_one=first + 1,
            last=last,
        )
    return WORDINGS.draw(
        rng,
        "sum question",
        sigma=sigma,
        plain=plain,
        general=general,
        first=first,
        first_plus_one=first + 1,
    )


def _sum_problem(
    rng: Random,
    general: str,
    value: Fraction | int,
    span: tuple[int, int],
    plain: str,
    finite: bool = True,
) -> Problem:
    """Ask for the sum of ``general``, to infinity unless ``finite``; ``plain`` is the sum written out."""
    first, last = span
    end = str(last) if finite else "\\infty"
    question = _sum_question(rng, general, first, end, plain, finite)
    parameters = {"general": general, "first": first, "last": last if finite else 0}
    return Problem(question, fraction(value), parameters)


def _plain(general: list[str], last: str | None) -> str:
    shown = " + ".join(general)
    return f"{shown} + \\cdots + {last}" if last else f"{shown} + \\cdots"


def _telescoping(rng: Random, level: int) -> Problem:
    finite = rng.random() < 0.6
    if level == 1:
        d = rng.choice((1, 1, 2, 3, 4, 5))
        c = rng.choice((1, 1, 2, 3, d, 2 * d))
        start, count = rng.randint(1, 5), rng.randint(8, 60)

        # c / (a_k a_(k+1)) with a_k = start + d (k - 1)
        def at(k: int) -> int:
            return start + d * (k - 1)

        general = (
            f"\\frac{{{c}}}{{({polynomial((d, start - d), 'k')})({polynomial((d, start), 'k')})}}"
            if start != d
            else (f"\\frac{{{c}}}{{{terms([(d, 'k')])}({polynomial((d, start), 'k')})}}")
        )
        written = [f"\\frac{{{c}}}{{{at(k)} \\cdot {at(k + 1)}}}" for k in range(1, 4)]
        value = Fraction(c, d) * (
            Fraction(1, start) - (Fraction(1, at(count + 1)) if finite else 0)
        )
        last = f"\\frac{{{c}}}{{{at(count)} \\cdot {at(count + 1)}}}" if finite else None
        return _sum_problem(rng, general, value, (1, count), _plain(written, last), finite)
    if level == 2:
        form = rng.choice(("gap", "odd numerator", "roots", "factorials", "product"))
        if form == "gap":
            gap, start, count = rng.choice((2, 3)), rng.randint(1, 4), rng.randint(6, 30)
            general = f"\\frac{{1}}{{k(k + {gap})}}"
            value = Fraction(1, gap) * sum(Fraction(1, start + i) for i in range(gap))
            if finite:
                value -= Fraction(1, gap) * sum(Fraction(1, start + count + i) for i in range(gap))
            written = [f"\\frac{{1}}{{{k} \\cdot {k + gap}}}" for k in range(start, start + 3)]
            end = start + count - 1
            last = f"\\frac{{1}}{{{end} \\cdot {end + gap}}}" if finite else None
            return _sum_problem(rng, general, value, (start, end), _plain(written, last), finite)
        if form == "odd numerator":
            c, count = rng.choice((1, 2, 3)), rng.randint(5, 25)
            general = WORDINGS.one(
                "telescoping general",
                value="" if c == 1 else f"{c}(",
                value_2="" if c == 1 else ")",
            )
            value = c * (1 - (Fraction(1, (count + 1) ** 2) if finite else 0))
            written = [
                f"\\frac{{{c * (2 * k + 1)}}}{{{k}^2 \\cdot {k + 1}^2}}" for k in range(1, 4)
            ]
            last = (
                f"\\frac{{{c * (2 * count + 1)}}}{{{count}^2 \\cdot {count + 1}^2}}"
                if finite
                else None
            )
            return _sum_problem(rng, general, value, (1, count), _plain(written, last), finite)
        if form == "roots":
            d, low, high = rng.choice((1, 2, 3, 4)), rng.randint(1, 6), rng.randint(7, 15)
            start = low * low
            while (high * high - start) % d:
                high += 1
            count = (high * high - start) // d
            general = WORDINGS.one(
                "telescoping general 2",
                polynomial=polynomial((d, start - d), "k"),
                polynomial_polynomial=polynomial((d, start), "k"),
            )
            value = Fraction(high - low, d)
            written = [
                f"\\frac{{1}}{{\\sqrt{{{start + d * i}}} + \\sqrt{{{start + d * (i + 1)}}}}}"
                for i in range(2)
            ]
            last = f"\\frac{{1}}{{\\sqrt{{{high * high - d}}} + \\sqrt{{{high * high}}}}}"
            return _sum_problem(rng, general, value, (1, count), _plain(written, last))
        if form == "factorials":
            start, end = rng.randint(1, 3), rng.randint(5, 9)
            general = "\\frac{k}{(k + 1)!}"
            value = Fraction(1, factorial(start)) - (
                Fraction(1, factorial(end + 1)) if finite else 0
            )
            written = [f"\\frac{{{k}}}{{{k + 1}!}}" for k in range(start, start + 3)]
            last = f"\\frac{{{end}}}{{{end + 1}!}}" if finite else None
            question = _sum_question(
                rng,
                general,
                start,
                str(end) if finite else "\\infty",
                _plain(written, last),
                finite,
            )
            return Problem(
                question,
                fraction(value),
                {"general": "k/(k+1)!", "first": start, "last": end if finite else 0},
            )
        start, end, c = rng.randint(2, 6), rng.randint(10, 60), rng.choice((1, 2, 3))
        if start <= c:
            start = c + 1
        # product of (1 - c^2/k^2) = product (k-c)(k+c)/k^2
        value = Fraction(1)
        for k in range(start, end + 1):
            value *= Fraction((k - c) * (k + c), k * k)
        general = f"\\left(1 - \\frac{{{c * c}}}{{k^2}}\\right)"
        written = "".join(
            f"\\left(1 - \\frac{{{c * c}}}{{{k}^2}}\\right)" for k in (start, start + 1)
        )
        last = f"\\left(1 - \\frac{{{c * c}}}{{{end}^2}}\\right)"
        question = WORDINGS.draw(
            rng,
            "telescoping, level 2",
            written=written,
            last=last,
            start=start,
            end=end,
            general=general,
            c_times_c=c * c,
        )
        return Problem(
            question,
            fraction(value),
            {"general": general, "first": start, "last": end, "product": True},
        )
    form = rng.choice(("three factors", "quotient of k", "logarithms", "quartic"))
    if form == "three factors":
        start, end = rng.randint(1, 4), rng.randint(8, 25)
        general = "\\frac{1}{k(k + 1)(k + 2)}"
        value = Fraction(1, 2 * start * (start + 1)) - (
            Fraction(1, 2 * (end + 1) * (end + 2)) if finite else 0
        )
        written = [
            f"\\frac{{1}}{{{k} \\cdot {k + 1} \\cdot {k + 2}}}" for k in range(start, start + 3)
        ]
        last = f"\\frac{{1}}{{{end} \\cdot {end + 1} \\cdot {end + 2}}}" if finite else None
        return _sum_problem(rng, general, value, (start, end), _plain(written, last), finite)
    if form == "quotient of k":
        # (k^2 + k + 1)/(k(k + 1)) = 1 + 1/(k(k+1))
        start, end, c = 1, rng.randint(10, 99), rng.choice((1, 2, 3, 4, 5, -1))
        shown = terms([(1, "k^2"), (1, "k"), (c, "")])
        general = f"\\frac{{{shown}}}{{k(k + 1)}}"
        value = end + c * (1 - Fraction(1, end + 1))
        written = [f"\\frac{{{k * k + k + c}}}{{{k} \\cdot {k + 1}}}" for k in range(1, 4)]
        last = f"\\frac{{{end * end + end + c}}}{{{end} \\cdot {end + 1}}}"
        return _sum_problem(rng, general, value, (start, end), _plain(written, last))
    if form == "logarithms":
        base, top = rng.choice((2, 3, 5)), rng.randint(2, 6)
        start = rng.choice((1, base))
        end = base**top - 1
        while end > 700:
            top -= 1
            end = base**top - 1
        if end < 6:
            top, end = top + 2, base ** (top + 2) - 1
        general = f"\\log_{base}\\left(1 + \\frac{{1}}{{k}}\\right)"
        value = Fraction(top - (0 if start == 1 else 1))
        written = [f"\\log_{base}\\left(1 + \\frac{{1}}{{{k}}}\\right)" for k in (start, start + 1)]
        return _sum_problem(
            rng,
            general,
            value,
            (start, end),
            _plain(written, f"\\log_{base}\\left(1 + \\frac{{1}}{{{end}}}\\right)"),
        )
    # 4k/(4k^4 + 1) = 1/(2k^2 - 2k + 1) - 1/(2k^2 + 2k + 1);  k/(k^4 + k^2 + 1)
    end = rng.randint(5, 20)
    if rng.random() < 0.5:
        c = rng.choice((4, 8, 12))
        general = f"\\frac{{{c}k}}{{4k^4 + 1}}"
        value = Fraction(c, 4) * (1 - (Fraction(1, 2 * end * end + 2 * end + 1) if finite else 0))
        written = [f"\\frac{{{c * k}}}{{4 \\cdot {k}^4 + 1}}" for k in range(1, 4)]
        last = f"\\frac{{{c * end}}}{{4 \\cdot {end}^4 + 1}}" if finite else None
    else:
        c = rng.choice((1, 2, 4))
        general = f"\\frac{{{terms([(c, 'k')])}}}{{k^4 + k^2 + 1}}"
        value = Fraction(c, 2) * (1 - (Fraction(1, end * end + end + 1) if finite else 0))
        written = [f"\\frac{{{c * k}}}{{{k}^4 + {k}^2 + 1}}" for k in range(1, 4)]
        last = f"\\frac{{{c * end}}}{{{end}^4 + {end}^2 + 1}}" if finite else None
    return _sum_problem(rng, general, value, (1, end), _plain(written, last), finite)


def _weighted(rng: Random, level: int) -> Problem:
    r = pick(
        rng,
        Fraction(1, 2),
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(1, 4),
        Fraction(1, 5),
        Fraction(3, 4),
        Fraction(2, 5),
        Fraction(1, 6),
        Fraction(1, 10),
    )
    base = r.denominator if r.numerator == 1 else 0

    def over(top: str) -> str:
        if base:
            return f"\\frac{{{top}}}{{{base}^k}}"
        inner = f"({top})" if " " in top else top
        return f"{'' if top == '1' else inner} \\left({fraction(r)}\\right)^k".strip()

    s0, s1 = r / (1 - r), r / (1 - r) ** 2
    s2 = r * (1 + r) / (1 - r) ** 3
    start = 1
    if level == 1:
        a, b = rng.randint(1, 6), rng.choice((0, rng.randint(1, 9)))
        top, value = terms([(a, "k"), (b, "")]), a * s1 + b * s0
        if rng.random() < 0.4:  # geometric with two ratios
            p, q = rng.randint(1, 5), signed(rng, 1, 4)
            big = rng.randint(7, 12)
            one, two = rng.sample((2, 3, 4, 5, 6), 2)
            value = p * Fraction(one, big - one) + q * Fraction(two, big - two)
            upper = f"{_times(p, f'{one}^k')} {'+' if q > 0 else '-'} {_times(abs(q), f'{two}^k')}"
            shown = f"\\frac{{{upper}}}{{{big}^k}}"
        else:
            shown = over(top)
    elif level == 2:
        a, b = rng.randint(1, 4), signed(rng, 1, 7)
        form = rng.choice(("from two", "finite", "alternating"))
        if form == "finite" and base:
            n = rng.choice((8, 10, 12, 20))
            b = rng.choice((0, b))
            shown = over(terms([(a, "k"), (b, "")]))
            # sum_{k=1}^n (a k + b)/c^k, as p - q/c^n
            total = sum((a * k + b) * r**k for k in range(1, n + 1))
            limit = a * s1 + b * s0
            tail = (limit - total) * base**n
            question = WORDINGS.draw(rng, "weighted, level 2, finite", n=n, shown=shown, base=base)
            return Problem(
                question,
                fraction(tail),
                {"general": shown, "first": 1, "last": n, "scale": base, "ask": "tail"},
            )
        start = rng.choice((0, 2, 3))
        shown = over(terms([(a, "k"), (b, "")]))
        value = a * s1 + b * s0
        if start == 0:
            value += b
        for k in range(1, start):
            value -= (a * k + b) * r**k
    else:
        a, b = rng.randint(1, 3), rng.choice((0, signed(rng, 1, 5)))
        form = rng.choice(("square", "product", "sequence"))
        if form == "square":
            shown = over(terms([(a, "k^2"), (b, "k")]))
            value = a * s2 + b * s1
        elif form == "product":
            c = rng.randint(1, 3)
            shown = over(f"k(k + {c})")
            value = s2 + c * s1
        else:
            # sum of u_k/c^k with u_{k+2} = p u_{k+1} + q u_k
            p, q, c = rng.choice((1, 1, 2)), rng.choice((1, 1, 2)), rng.randint(4, 10)
            u1, u2 = rng.randint(1, 4), rng.randint(1, 6)
            value = (Fraction(u1, c) + Fraction(u2 - p * u1, c * c)) / (
                1 - Fraction(p, c) - Fraction(q, c * c)
            )
            rule = f"u_{{k+2}} = {terms([(p, 'u_{k+1}'), (q, 'u_k')])}"
            question = WORDINGS.draw(rng, "weighted", u1=u1, u2=u2, rule=rule, c=c)
            return Problem(
                question,
                fraction(value),
                {"p": p, "q": q, "c": c, "u": [u1, u2], "ask": "sequence"},
            )
    sigma = f"\\sum_{{k={start}}}^{{\\infty}} {shown}"
    question = WORDINGS.draw(rng, "weighted, 2", sigma=sigma, shown=shown, start=start)
    return Problem(tidy(question), fraction(value), {"general": shown, "first": start, "last": 0})


def _recurrence_walk(rng: Random) -> Problem:
    letter = rng.choice("abuxt")
    form = rng.choice(("linear", "second", "shrinking"))
    if form == "linear":
        p, q, first, n = (
            rng.choice((2, 3, -1, -2)),
            signed(rng, 1, 7),
            rng.randint(1, 9),
            rng.randint(5, 8),
        )
        rule, start = f"{letter}_{{n+1}} = {terms([(p, f'{letter}_n'), (q, '')])}", [first]
    elif form == "second":
        p, q = pick(rng, (1, 1), (2, 1), (1, 2), (2, -1), (-1, 1), (-1, 2), (3, -1), (1, 3), (3, 1))
        n = rng.randint(7, 10)
        rule = f"{letter}_{{n+2}} = {terms([(p, f'{letter}_{{n+1}}'), (q, f'{letter}_n')])}"
        start = [rng.randint(0, 5), rng.randint(1, 6)]
    else:
        c, n = rng.randint(1, 4), rng.randint(9, 40)
        first = rng.randint(1, 9)
        # a_(n+1) = a_n/(1 + c a_n): 1/a_n grows by c
        rule = f"{letter}_{{n+1}} = \\frac{{{letter}_n}}{{1 + {terms([(c, f'{letter}_n')])}}}"
        start = [first]
        value = 1 / (Fraction(1, first) + c * (n - 1))
    if form != "shrinking":
        values = list(start)
        while len(values) < n:
            values.append(
                p * values[-1] + q if form == "linear" else p * values[-1] + q * values[-2]
            )
        value = Fraction(values[n - 1])
        if abs(value) > 20000 or abs(value) < 3:
            return _recurrence_walk(rng)
    given = WORDINGS.one(
        "recurrence walk given",
        letter=letter,
        start=start,
        part2=f", ${letter}_2 = {start[1]}$" if len(start) > 1 else "",
    )
    question = WORDINGS.draw(rng, "recurrence walk", given=given, rule=rule, letter=letter, n=n)
    return Problem(
        question, fraction(value), {"rule": rule, "start": start, "n": n, "letter": letter}
    )


def _recurrence_closed(rng: Random) -> Problem:
    letter = rng.choice("abux")
    n = rng.choice((12, 15, 20, 25, 30, 40, 50, 60, 99, 100))
    form = rng.choice(("affine", "distinct roots", "growing step"))
    if form == "affine":
        p, fixed = rng.choice((2, 3, 4, 5)), signed(rng, 1, 6)
        scale = rng.choice((1, 2, 3, 4, -1))
        q, first = fixed * (1 - p), scale * 1 + fixed
        # a_n = scale p^(n-1) + fixed
        answer = f"{'-' if scale < 0 else ''}{_times(abs(scale), power(str(p), n - 1))}"
        answer += f" {'+' if fixed > 0 else '-'} {abs(fixed)}"
        rule, start = f"{letter}_{{n+1}} = {terms([(p, f'{letter}_n'), (q, '')])}", [first]
        want = f"${letter}_{{{n}}}$ in the form $A \\cdot {p}^m + B$ with integers $A$, $B$ and $m$"
    elif form == "distinct roots":
        r, s = rng.choice(((1, 2), (1, 3), (2, 3), (-1, 2), (-1, 3), (2, 5), (1, 4), (-2, 3)))
        u, v = rng.randint(1, 3), signed(rng, 1, 2)
        # a_n = u s^n + v r^n
        start = [u * s + v * r, u * s * s + v * r * r]
        rule = WORDINGS.one(
            "recurrence closed rule",
            letter=letter,
            terms=terms([(r + s, f"{letter}_{{n+1}}"), (-r * s, f"{letter}_n")]),
        )
        big = _times(u, power(str(s), n))
        if abs(r) == 1:
            low = v * r**n
            answer = f"{big} {'+' if low > 0 else '-'} {abs(low)}"
        else:
            low_sign = (1 if v > 0 else -1) * (-1 if r < 0 and n % 2 else 1)
            answer = f"{big} {'+' if low_sign > 0 else '-'} {_times(abs(v), power(str(abs(r)), n))}"
        want = f"${letter}_{{{n}}}$ in closed form, with powers left as powers"
    else:
        c, d, first = rng.randint(1, 6), signed(rng, 1, 9), rng.randint(-5, 20)
        rule, start = f"{letter}_{{n+1}} = {letter}_n + {polynomial((c, d), 'n')}", [first]
        answer = str(first + c * n * (n - 1) // 2 + d * (n - 1))
        want = f"${letter}_{{{n}}}$"
    given = WORDINGS.one(
        "recurrence closed given",
        letter=letter,
        start=start,
        part2=f", ${letter}_2 = {start[1]}$" if len(start) > 1 else "",
    )
    question = pick(
        rng,
        f"A sequence satisfies {given} and ${rule}$ for all $n \\ge 1$. Find {want}.",
        f"Suppose {given} and \\[{rule} \\quad (n \\ge 1).\\] Determine {want}.",
        WORDINGS.one("recurrence closed", given=given, rule=rule, want=want),
        WORDINGS.one("recurrence closed 2", letter=letter, given=given, rule=rule, want=want)
        if form != "growing step"
        else WORDINGS.one("recurrence closed 3", letter=letter, given=given, rule=rule, want=want),
    )
    return Problem(question, answer, {"rule": rule, "start": start, "n": n, "letter": letter})


def _recurrence_hidden(rng: Random) -> Problem:
    letter = rng.choice("abux")
    n = rng.choice((50, 75, 100, 123, 200, 365, 500, 1000, 2024, 2025, 2026))
    form = rng.choice(("quotient", "mobius", "last digit", "difference", "backwards"))
    if form == "quotient":  # a_{n+2} = a_{n+1}/a_n, period 6;  (1 + a_{n+1})/a_n, period 5
        one = Fraction(rng.randint(1, 9), rng.choice((1, 2, 3)))
        two = Fraction(rng.randint(1, 9), rng.choice((1, 2, 3)))
        if rng.random() < 0.5:
            rule = f"{letter}_{{n+2}} = \\frac{{{letter}_{{n+1}}}}{{{letter}_n}}"
            seq = [one, two]
            while len(seq) < 6:
                seq.append(seq[-1] / seq[-2])
        else:
            rule = f"{letter}_{{n+2}} = \\frac{{1 + {letter}_{{n+1}}}}{{{letter}_n}}"
            seq = [one, two]
            while len(seq) < 5:
                seq.append((1 + seq[-1]) / seq[-2])
        start = [one, two]
    elif form == "difference":
        one, two = Fraction(signed(rng, 1, 20)), Fraction(signed(rng, 1, 20))
        rule = f"{letter}_{{n+2}} = {letter}_{{n+1}} - {letter}_n"
        seq = [one, two]
        while len(seq) < 6:
            seq.append(seq[-1] - seq[-2])
        start = [one, two]
    elif form == "mobius":
        one = Fraction(rng.choice((2, 3, 4, 5, 6, 7, 8, 9)), rng.choice((1, 1, 2, 3)))
        if one == 1:
            one = Fraction(5)
        before = f"{letter}_n"
        rules: tuple[tuple[str, Callable[[Fraction], Fraction]], ...] = (
            (f"\\frac{{1}}{{1 - {before}}}", lambda v: 1 / (1 - v)),
            (f"\\frac{{1 + {before}}}{{1 - {before}}}", lambda v: (1 + v) / (1 - v)),
            (f"1 - \\frac{{1}}{{{before}}}", lambda v: 1 - 1 / v),
            (f"\\frac{{{before} - 1}}{{{before} + 1}}", lambda v: (v - 1) / (v + 1)),
        )
        right, step = rng.choice(rules)
        rule = f"{letter}_{{n+1}} = {right}"
        seq = [one]
        while len(seq) < 12:
            seq.append(step(seq[-1]))
        start = [one]
    elif form == "last digit":
        p, q = rng.choice(((1, 1), (2, 1), (3, 1), (1, 2), (3, 2), (2, 3))), 0
        m = rng.choice((5, 7, 9, 10, 11, 13))
        start_numbers = [rng.randint(1, 4), rng.randint(1, 6)]
        rule = f"{letter}_{{n+2}} = {terms([(p[0], f'{letter}_{{n+1}}'), (p[1], f'{letter}_n')])}"
        remainders = [v % m for v in start_numbers]
        while len(remainders) < n:
            remainders.append((p[0] * remainders[-1] + p[1] * remainders[-2]) % m)
        del q
        what = (
            f"the last digit of ${letter}_{{{n}}}$"
            if m == 10
            else f"the remainder when ${letter}_{{{n}}}$ is divided by ${m}$"
        )
        question = WORDINGS.draw(
            rng,
            "recurrence hidden, last digit",
            letter=letter,
            start_numbers=start_numbers,
            rule=rule,
            what=what,
        )
        return Problem(
            question,
            str(remainders[n - 1]),
            {"rule": rule, "start": start_numbers, "n": n, "letter": letter, "modulus": m},
        )
    else:
        # a_{n+1} = sqrt(a_n^2 + c)
        c, first = rng.randint(1, 12), rng.randint(1, 9)
        rule = f"{letter}_{{n+1}} = \\sqrt{{{letter}_n^2 + {c}}}"
        value = root(first * first + c * (n - 1))
        question = WORDINGS.draw(
            rng, "recurrence hidden", letter=letter, first=first, rule=rule, n=n, c=c
        )
        return Problem(question, value, {"rule": rule, "start": [first], "n": n, "letter": letter})
    if any(v == 0 for v in seq) or len(set(seq)) < 3:
        return _recurrence_hidden(rng)
    if form == "mobius":
        period = next(i for i in range(1, 12) if seq[i] == seq[0])
    else:
        period = 5 if "1 +" in rule else 6
    value_n = seq[(n - 1) % period]
    given = ", ".join(f"${letter}_{i + 1} = {fraction(v)}$" for i, v in enumerate(start))
    total = sum(seq[:period], Fraction(0)) * (n // period) + sum(seq[: n % period], Fraction(0))
    asks = [(f"${letter}_{{{n}}}$", value_n, "term")]
    if total and total.denominator < 50 and period < 6:
        asks.append((f"${letter}_1 + {letter}_2 + \\cdots + {letter}_{{{n}}}$", total, "sum"))
    if form == "difference" and total:
        asks.append((f"the sum of the first ${n}$ terms", total, "sum"))
    what, answer, ask = rng.choice(asks)
    question = WORDINGS.draw(rng, "recurrence hidden, 2", given=given, rule=rule, what=what)
    return Problem(
        question,
        fraction(answer),
        {"rule": rule, "start": [str(v) for v in start], "n": n, "letter": letter, "ask": ask},
    )


def _recurrence(rng: Random, level: int) -> Problem:
    return (_recurrence_walk, _recurrence_closed, _recurrence_hidden)[level - 1](rng)


FAMILIES = (
    math_family("algebra_telescoping", _telescoping, "Sums and products that collapse"),
    math_family("algebra_weighted_geometric", _weighted, "Sums of k r^k and the like"),
    math_family("algebra_recurrence", _recurrence, "Terms of sequences given by a recurrence"),
)
