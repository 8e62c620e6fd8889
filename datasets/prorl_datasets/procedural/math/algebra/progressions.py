"""Problems on arithmetic and geometric sequences."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

ORDINALS = (
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
)


def _ordinal(n: int) -> str:
    if n < len(ORDINALS):
        return ORDINALS[n]
    return f"{n}{'th' if 10 < n % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def _arithmetic_terms(rng: Random) -> Problem:
    while True:
        first, step = (
            Fraction(rng.randint(-30, 60)),
            Fraction(signed(rng, 1, 12), rng.choice((1, 1, 1, 2, 3))),
        )
        m, n = sorted(rng.sample(range(2, 21), 2))
        k = rng.randint(n + 1, 60)
        values = [first + step * (i - 1) for i in (m, n, k)]
        if n - m > 1 and values[0].denominator == values[1].denominator == 1 and values[2]:
            break
    am, an, ak = map(fraction, values)
    total = k * (first + values[2]) / 2
    letter = rng.choice("abcu")
    asks = {
        "term": (
            ak,
            WORDINGS.all(
                "arithmetic terms, term",
                mth=_ordinal(m),
                am=am,
                nth=_ordinal(n),
                an=an,
                kth=_ordinal(k),
                letter=letter,
                m=m,
                n=n,
                k=k,
            ),
        ),
        "step": (
            fraction(step),
            WORDINGS.all("arithmetic terms, step", mth=_ordinal(m), am=am, nth=_ordinal(n), an=an),
        ),
        "sum": (
            fraction(total),
            (
                WORDINGS.one(
                    "arithmetic terms 2", mth=_ordinal(m), am=am, nth=_ordinal(n), an=an, k=k
                ),
                WORDINGS.one("arithmetic terms", letter=letter, m=m, am=am, n=n, an=an, k=k),
            ),
        ),
    }
    ask = rng.choice(list(asks))
    answer, questions = asks[ask]
    return Problem(
        rng.choice(questions), answer, {"m": m, "n": n, "k": k, "am": am, "an": an, "ask": ask}
    )


def _arithmetic_sums(rng: Random) -> Problem:
    while True:
        first, step = rng.randint(-20, 40), signed(rng, 1, 8)
        m, n = sorted(rng.sample(range(4, 31), 2))

        def total(count: int, first: int = first, step: int = step) -> Fraction:
            return Fraction(count * (2 * first + step * (count - 1)), 2)

        if total(m) and total(n) and total(m + n):
            break
    k = rng.randint(2, 40)
    form = rng.choice(("two sums", "formula", "blocks"))
    parameters: dict[str, object] = {"form": form, "m": m, "n": n, "k": k}
    if form == "two sums":
        parameters |= {"sm": str(total(m)), "sn": str(total(n))}
        question, answer, ask = pick(
            rng,
            (
                WORDINGS.one(
                    "arithmetic sums", m=m, total_m=total(m), n=n, total_n=total(n), m_plus_n=m + n
                ),
                total(m + n),
                "sum",
            ),
            (
                WORDINGS.one("arithmetic sums 2", m=m, total_m=total(m), n=n, total_n=total(n)),
                Fraction(first),
                "first",
            ),
            (
                WORDINGS.one(
                    "arithmetic sums 3", m=m, total_m=total(m), n=n, total_n=total(n), k=_ordinal(k)
                ),
                Fraction(first + step * (k - 1)),
                "term",
            ),
        )
    elif form == "formula":
        p, q = Fraction(step, 2), Fraction(2 * first - step, 2)
        shown = terms([(p, "j^2"), (q, "j")])
        parameters |= {"shown": shown}
        question, answer, ask = pick(
            rng,
            (
                WORDINGS.one("arithmetic sums 5", shown=shown, kth=_ordinal(k)),
                Fraction(first + step * (k - 1)),
                "term",
            ),
            (
                WORDINGS.one("arithmetic sums 6", shown=shown, k=k, k_plus_5=k + 5),
                total(k + 5) - total(k - 1),
                "part",
            ),
            (
                WORDINGS.one("arithmetic sums 7", shown=shown, k=k),
                Fraction(first + step * (k - 1)),
                "term",
            ),
        )
    else:
        size = rng.randint(4, 12)
        one, two = total(size), total(2 * size) - total(size)
        later = rng.choice((3, 4, 5))
        parameters |= {"size": size, "one": str(one), "two": str(two), "later": later}
        value = total(later * size) - total((later - 1) * size)
        question, answer, ask = pick(
            rng,
            (
                WORDINGS.one("arithmetic sums 8", size=size, one=one, two=two),
                Fraction(step),
                "step",
            ),
            (
                WORDINGS.one("arithmetic sums 4", size=size, one=one, two=two, later=later),
                value,
                "block",
            ),
            (
                WORDINGS.one("arithmetic sums 9", size=size, one=one, two=two),
                Fraction(first),
                "first",
            ),
        )
    parameters["ask"] = ask
    return Problem(tidy(question), fraction(answer), parameters)


def _arithmetic_linked(rng: Random) -> Problem:
    form = rng.choice(("largest sum", "equal sums", "three numbers", "first over"))
    if form == "largest sum":
        while True:
            first, step = rng.randint(20, 120), -rng.randint(2, 9)
            if first % step:
                break
        count = sum(1 for i in range(400) if first + step * i > 0)
        best = count * (2 * first + step * (count - 1)) // 2
        start = {"first": first, "first_plus_step": first + step, "first_value": first + 2 * step}
        fourth = first + 3 * step
        question, answer, ask = pick(
            rng,
            (WORDINGS.one("arithmetic linked", **start), best, "sum"),
            (WORDINGS.one("arithmetic linked 2", **start, first_value_2=fourth), count, "count"),
            (WORDINGS.one("arithmetic linked 3", first=first, minus_step=-step), best, "sum"),
        )
        return Problem(
            question, str(answer), {"form": form, "first": first, "step": step, "ask": ask}
        )
    if form == "equal sums":
        while True:
            m, n = sorted(rng.sample(range(5, 26), 2))
            step = signed(rng, 1, 6) * 2
            first = -step * (m + n - 1) // 2
            k = rng.randint(2, 40)
            if (m + n - 1) * step % 2 == 0 and first + step * (k - 1):
                break
        value = first + step * (k - 1)
        question = WORDINGS.draw(
            rng,
            "arithmetic linked, equal sums",
            step=step,
            m=m,
            n=n,
            kth=_ordinal(k),
            size_of_step=abs(step),
            more_or_less="more" if step > 0 else "less",
            k=k,
        )
        return Problem(question, str(value), {"form": form, "m": m, "n": n, "step": step, "k": k})
    if form == "three numbers":
        middle, step = rng.randint(3, 15), rng.randint(1, 9)
        if step == middle:
            step += 1
        numbers = (middle - step, middle, middle + step)
        product = numbers[0] * numbers[1] * numbers[2]
        squares = sum(n * n for n in numbers)
        fact, key = pick(
            rng,
            (f"product ${product}$", "product"),
            (f"squares that add up to ${squares}$", "squares"),
        )
        question, answer, ask = pick(
            rng,
            (
                WORDINGS.one("arithmetic linked 7", total=3 * middle, fact=fact),
                numbers[2],
                "largest",
            ),
            (WORDINGS.one("arithmetic linked 8", total=3 * middle, fact=fact), step, "step"),
            (WORDINGS.one("arithmetic linked 9", total=3 * middle, fact=fact), numbers[0], "least"),
        )
        return Problem(
            question,
            str(answer),
            {
                "form": form,
                "total": 3 * middle,
                "fact": product if key == "product" else squares,
                "key": key,
                "ask": ask,
            },
        )
    first, step, bound = (
        rng.randint(1, 20),
        rng.randint(2, 9),
        rng.choice((500, 800, 1000, 1500, 2000, 2500, 3000, 5000)),
    )
    count, total = 0, 0
    while total <= bound:
        total += first + step * count
        count += 1
    start = {"first": first, "first_plus_step": first + step, "first_value": first + 2 * step}
    question, answer, ask = pick(
        rng,
        (WORDINGS.one("arithmetic linked 4", **start, bound=bound), count, "count"),
        (WORDINGS.one("arithmetic linked 5", **start, bound=bound), total, "total"),
        (WORDINGS.one("arithmetic linked 6", **start, bound=bound), count, "count"),
    )
    return Problem(
        question,
        str(answer),
        {"form": form, "first": first, "step": step, "bound": bound, "ask": ask},
    )


def _arithmetic(rng: Random, level: int) -> Problem:
    return (_arithmetic_terms, _arithmetic_sums, _arithmetic_linked)[level - 1](rng)


def _geometric(rng: Random, level: int) -> Problem:
    if level == 1:
        while True:
            ratio = pick(
                rng,
                Fraction(2),
                Fraction(3),
                Fraction(1, 2),
                Fraction(-2),
                Fraction(2, 3),
                Fraction(3, 2),
                Fraction(1, 3),
                Fraction(-1, 2),
                Fraction(4),
                Fraction(3, 4),
            )
            first = Fraction(rng.randint(1, 96))
            m, gap, k = rng.randint(1, 3), rng.choice((1, 3)), rng.randint(5, 9)
            values = [first * ratio ** (i - 1) for i in (m, m + gap, k)]
            if (
                all(v.denominator <= 1 for v in values[:2])
                and abs(values[2]) < 20000
                and values[2].denominator < 300
                and k not in (m, m + gap)
            ):
                break
        one, two, three = map(fraction, values)
        question = WORDINGS.draw(
            rng,
            "geometric, level 1",
            mth=_ordinal(m),
            m_plus_gapth=_ordinal(m + gap),
            one=one,
            two=two,
            kth=_ordinal(k),
            m=m,
            m_plus_gap=m + gap,
            k=k,
            first_letters="" if m == 1 else "x, " if m == 2 else "x, y, ",
            middle_letters="" if gap == 1 else "u, v, ",
        )
        return Problem(
            question, three, {"m": m, "n": m + gap, "k": k, "am": one, "an": two, "form": "terms"}
        )
    if level == 2:
        ratio = pick(
            rng,
            Fraction(1, 2),
            Fraction(1, 3),
            Fraction(2, 3),
            Fraction(-1, 2),
            Fraction(1, 4),
            Fraction(3, 4),
            Fraction(-1, 3),
            Fraction(2, 5),
            Fraction(1, 5),
            Fraction(-2, 3),
            Fraction(3, 5),
        )
        first = Fraction(rng.randint(1, 30))
        total, squares = first / (1 - ratio), first * first / (1 - ratio * ratio)
        second = first * ratio
        odd = first / (1 - ratio * ratio)
        form = rng.choice(("squares", "second", "odd places", "first"))
        s = fraction(total)
        if form == "squares":
            question, answer, ask = pick(
                rng,
                (WORDINGS.one("geometric", s=s, squares=fraction(squares)), ratio, "ratio"),
                (WORDINGS.one("geometric 5", s=s, squares_text=fraction(squares)), first, "first"),
            )
        elif form == "second":
            if abs(ratio) < Fraction(1, 2) or ratio == Fraction(1, 2):
                fact = (
                    "the common ratio is less than $\\frac{1}{2}$" if ratio < Fraction(1, 2) else ""
                )
            else:
                fact = "the common ratio is greater than $\\frac{1}{2}$"
            if ratio == Fraction(1, 2):
                question, answer, ask = (
                    WORDINGS.one("geometric 6", s=s, second_text=fraction(second)),
                    ratio,
                    "ratio",
                )
            else:
                if ratio < 0:
                    fact = "the common ratio is negative"
                question, answer, ask = pick(
                    rng,
                    (
                        WORDINGS.one("geometric 7", s=s, second_text=fraction(second), fact=fact),
                        first,
                        "first",
                    ),
                    (
                        WORDINGS.one("geometric 8", s=s, second_text=fraction(second), fact=fact),
                        ratio,
                        "ratio",
                    ),
                )
        elif form == "odd places":
            question, answer, ask = pick(
                rng,
                (WORDINGS.one("geometric 2", s=s, odd=fraction(odd)), ratio, "ratio"),
                (WORDINGS.one("geometric 9", s=s, odd_text=fraction(odd)), first, "first"),
            )
        else:
            cut = rng.randint(2, 3)
            tail = total - sum(first * ratio**i for i in range(cut))
            form = f"tail {cut}"
            odd = tail
            question, answer, ask = pick(
                rng,
                (
                    WORDINGS.one(
                        "geometric 3",
                        first=fraction(first),
                        s=s,
                        two="two" if cut == 2 else "three",
                    ),
                    tail,
                    "tail",
                ),
                (
                    (
                        f"The first term of a convergent geometric series is ${fraction(first)}$ and "
                        f"its sum is ${s}$. Find the {_ordinal(cut + 2)} term."
                    ),
                    first * ratio ** (cut + 1),
                    "later",
                ),
            )
        return Problem(
            question,
            fraction(answer),
            {
                "form": form,
                "first": str(first),
                "total": str(total),
                "squares": str(squares),
                "second": str(second),
                "odd": str(odd),
                "ask": ask,
                "question": question,
            },
        )
    form = rng.choice(("blocks", "product", "sum and reciprocals"))
    if form == "blocks":
        q, n = (
            rng.choice((2, 3, 4, Fraction(1, 2), Fraction(3, 2), Fraction(1, 3), 5)),
            rng.choice((4, 5, 6, 8, 10, 12, 20)),
        )
        one = Fraction(rng.randint(2, 30))
        while (one * Fraction(q) ** 2).denominator > 1:
            one += 1
        two, three, four = (
            one * (1 + Fraction(q)),
            one * (1 + q + Fraction(q) ** 2),
            one * (1 + q + Fraction(q) ** 2 + Fraction(q) ** 3),
        )
        times, value = rng.choice(((3, three), (4, four)))
        question = WORDINGS.draw(
            rng,
            "geometric, blocks",
            n=n,
            one=fraction(one),
            twice_n=2 * n,
            two=fraction(two),
            all_terms=times * n,
        )
        return Problem(
            question,
            fraction(value),
            {"form": form, "n": n, "one": str(one), "two": str(two), "times": times},
        )
    middle = rng.randint(2, 12)
    ratio = pick(
        rng, Fraction(2), Fraction(3), Fraction(3, 2), Fraction(4), Fraction(5, 2), Fraction(4, 3)
    )
    while (middle / ratio).denominator > 1 or (middle * ratio).denominator > 1:
        middle += 1
    numbers = (middle / ratio, Fraction(middle), middle * ratio)
    total, product, squares = sum(numbers), middle**3, sum(n * n for n in numbers)
    if form == "product":
        question, answer, ask = pick(
            rng,
            (WORDINGS.one("geometric 10", product=product, total=total), numbers[2], "largest"),
            (WORDINGS.one("geometric 11", product=product, total=total), ratio, "ratio"),
            (
                WORDINGS.one("geometric 12", product=product, total=total),
                numbers[2] - numbers[0],
                "difference",
            ),
        )
        return Problem(
            question,
            fraction(answer),
            {"form": form, "product": product, "total": str(total), "ask": ask},
        )
    question, answer, ask = pick(
        rng,
        (WORDINGS.one("geometric 13", total=total, squares=squares), numbers[1], "middle"),
        (WORDINGS.one("geometric 14", total=total, squares=squares), numbers[2], "largest"),
        (WORDINGS.one("geometric 4", total=total, squares=squares), ratio, "ratio"),
    )
    return Problem(
        question,
        fraction(answer),
        {"form": form, "squares": str(squares), "total": str(total), "ask": ask},
    )


def _mixed(rng: Random, level: int) -> Problem:
    if level == 1:
        while True:
            a, ratio = rng.randint(1, 12), rng.randint(2, 5)
            g = [a, a * ratio, a * ratio * ratio]
            add = rng.randint(1, 15)
            shown = [n - add for n in g]
            if all(shown):
                break
        x = rng.choice("xtkd")
        question = WORDINGS.draw(
            rng,
            "mixed, level 1",
            shown=shown,
            x=x,
            first_plus_x=_plus(shown[0], x),
            second_plus_x=_plus(shown[1], x),
            third_plus_x=_plus(shown[2], x),
        )
        return Problem(question, str(add), {"form": "add", "shown": shown})
    if level == 2:
        # terms number i, j, k of an arithmetic sequence with difference d form a geometric one
        i, j, k = rng.choice((
            (1, 2, 5), (1, 3, 7), (1, 2, 4), (1, 3, 9), (2, 3, 6), (1, 4, 13), (1, 5, 13),
            (2, 4, 8), (3, 4, 6), (1, 3, 6), (2, 5, 11), (1, 4, 10), (1, 3, 11), (1, 2, 6)
        ))  # fmt: skip
        d = signed(rng, 1, 9) * (2 * j - i - k)
        # (a + (j-1)d)^2 = (a + (i-1)d)(a + (k-1)d)
        top = ((i - 1) * (k - 1) - (j - 1) ** 2) * d
        first = Fraction(top, 2 * (j - 1) - (i - 1) - (k - 1))
        chosen = [first + d * (n - 1) for n in (i, j, k)]
        if 0 in chosen or chosen[1] == chosen[0]:
            return _mixed(rng, level)
        ratio = chosen[1] / chosen[0]
        question, answer, ask = pick(
            rng,
            (
                WORDINGS.one("mixed 2", d=d, i=_ordinal(i), j=_ordinal(j), k=_ordinal(k)),
                first,
                "first",
            ),
            (WORDINGS.one("mixed 3", i=_ordinal(i), j=_ordinal(j), k=_ordinal(k)), ratio, "ratio"),
            (WORDINGS.one("mixed 4", d=d, i=i, j=j, k=k), chosen[2], "last"),
        )
        parameters = {"form": "places", "places": [i, j, k], "ask": ask}
        return Problem(
            question, fraction(answer), parameters if ask == "ratio" else {**parameters, "d": d}
        )
    # x, y, z arithmetic with sum 3m; adding (p, q, r) makes them geometric
    while True:
        a, ratio = rng.randint(1, 9), rng.choice((Fraction(2), Fraction(3), Fraction(3, 2)))
        g = [Fraction(a), a * ratio, a * ratio**2]
        add = [rng.randint(0, 9), rng.randint(0, 9), rng.randint(1, 30)]
        x, y, z = (one - two for one, two in zip(g, add, strict=True))
        if (
            x + z == 2 * y
            and y.denominator == x.denominator == 1
            and x < y
            and len(set(add)) > 1
            and x > 0
        ):
            break
    total = int(x + y + z)
    listing = f"${add[0]}$, ${add[1]}$ and ${add[2]}$"
    ask, what, answer = pick(
        rng,
        ("largest", "the largest of the original numbers", z),
        ("least", "the smallest of the original numbers", x),
        ("step", "the common difference of the original progression", y - x),
    )
    question = WORDINGS.draw(
        rng,
        "mixed",
        total=total,
        listing=listing,
        what=what,
        add=add,
        plus_first=_plus(add[0], "x", False),
        plus_second=_plus(add[1], "y", False),
        plus_third=_plus(add[2], "z", False),
    )
    return Problem(
        question, fraction(answer), {"form": "turned", "total": total, "add": add, "ask": ask}
    )


def _plus(number: int, letter: str, first: bool = True) -> str:
    if first and number > 0:
        return f"{number} + {letter}"
    return polynomial((1, number), letter)


FAMILIES = (
    math_family("algebra_arithmetic_sequence", _arithmetic, "Arithmetic sequences and their sums"),
    math_family(
        "algebra_geometric_sequence", _geometric, "Geometric sequences, finite and infinite"
    ),
    math_family("algebra_mixed_progression", _mixed, "Arithmetic sequences that turn geometric"),
)
