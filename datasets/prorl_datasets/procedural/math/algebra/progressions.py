"""Arithmetic and geometric sequences, and numbers that are both in turn."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.latex import fraction, polynomial, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family

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


def _signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)


def _ordinal(n: int) -> str:
    if n < len(ORDINALS):
        return ORDINALS[n]
    return f"{n}{'th' if 10 < n % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def _arithmetic_terms(rng: Random) -> Problem:
    while True:
        first, step = (
            Fraction(rng.randint(-30, 60)),
            Fraction(_signed(rng, 1, 12), rng.choice((1, 1, 1, 2, 3))),
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
            (
                (
                    f"The {_ordinal(m)} term of an arithmetic sequence is ${am}$ and the "
                    f"{_ordinal(n)} term is ${an}$. What is the {_ordinal(k)} term?"
                ),
                (
                    f"In an arithmetic progression ${letter}_1, {letter}_2, {letter}_3, \\ldots$ we "
                    f"know that ${letter}_{{{m}}} = {am}$ and ${letter}_{{{n}}} = {an}$. Find "
                    f"${letter}_{{{k}}}$."
                ),
                (
                    "Consecutive members of a list of numbers always differ by the same amount. If "
                    f"number {m} in the list is ${am}$ and number {n} is ${an}$, which number "
                    f"stands in place {k}?"
                ),
            ),
        ),
        "step": (
            fraction(step),
            (
                (
                    f"Find the common difference of the arithmetic sequence whose {_ordinal(m)} "
                    f"term is ${am}$ and whose {_ordinal(n)} term is ${an}$."
                ),
                (
                    f"Between the {_ordinal(m)} term ${am}$ and the {_ordinal(n)} term ${an}$ of an "
                    "arithmetic sequence the terms change evenly. What is its common "
                    "difference?"
                ),
            ),
        ),
        "sum": (
            fraction(total),
            (
                (
                    f"An arithmetic series has {_ordinal(m)} term ${am}$ and {_ordinal(n)} term "
                    f"${an}$. What is the sum of its first ${k}$ terms?"
                ),
                (
                    f"The sequence ${letter}_1, {letter}_2, \\ldots$ is arithmetic, with "
                    f"${letter}_{{{m}}} = {am}$ and ${letter}_{{{n}}} = {an}$. Compute ${letter}_1 "
                    f"+ {letter}_2 + \\cdots + {letter}_{{{k}}}$."
                ),
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
        first, step = rng.randint(-20, 40), _signed(rng, 1, 8)
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
        question, answer, ask = rng.choice(
            (
                (
                    (
                        f"The first ${m}$ terms of an arithmetic sequence add up to ${total(m)}$, and "
                        f"the first ${n}$ terms add up to ${total(n)}$. Find the sum of the first "
                        f"${m + n}$ terms."
                    ),
                    total(m + n),
                    "sum",
                ),
                (
                    (
                        "Let $S_j$ be the sum of the first $j$ terms of an arithmetic progression. "
                        f"Given $S_{{{m}}} = {total(m)}$ and $S_{{{n}}} = {total(n)}$, what is the "
                        "first term?"
                    ),
                    Fraction(first),
                    "first",
                ),
                (
                    (
                        f"In an arithmetic series the sum of the first ${m}$ terms is ${total(m)}$ and "
                        f"the sum of the first ${n}$ terms is ${total(n)}$. What is the {_ordinal(k)} "
                        "term of the underlying sequence?"
                    ),
                    Fraction(first + step * (k - 1)),
                    "term",
                ),
            )
        )
    elif form == "formula":
        p, q = Fraction(step, 2), Fraction(2 * first - step, 2)
        shown = terms([(p, "j^2"), (q, "j")])
        parameters |= {"shown": shown}
        question, answer, ask = rng.choice(
            (
                (
                    (
                        "For every positive integer $j$, the sum of the first $j$ terms of a sequence "
                        f"is ${shown}$. Find the {_ordinal(k)} term."
                    ),
                    Fraction(first + step * (k - 1)),
                    "term",
                ),
                (
                    (
                        f"The partial sums of a sequence are $S_j = {shown}$ for $j = 1, 2, 3, "
                        f"\\ldots$. What is the sum of terms number {k} to {k + 5} (both included)?"
                    ),
                    total(k + 5) - total(k - 1),
                    "part",
                ),
                (
                    (
                        "A sequence $a_1, a_2, \\ldots$ satisfies \\[a_1 + a_2 + \\cdots + a_j = "
                        f"{shown}\\] for all $j \\ge 1$. Determine $a_{{{k}}}$."
                    ),
                    Fraction(first + step * (k - 1)),
                    "term",
                ),
            )
        )
    else:
        size = rng.randint(4, 12)
        one, two = total(size), total(2 * size) - total(size)
        later = rng.choice((3, 4, 5))
        parameters |= {"size": size, "one": str(one), "two": str(two), "later": later}
        value = total(later * size) - total((later - 1) * size)
        question, answer, ask = rng.choice(
            (
                (
                    (
                        f"The sum of the first ${size}$ terms of an arithmetic sequence is ${one}$ and "
                        f"the sum of the next ${size}$ terms is ${two}$. What is the common difference?"
                    ),
                    Fraction(step),
                    "step",
                ),
                (
                    (
                        f"An arithmetic sequence is cut into blocks of ${size}$ terms each. The first "
                        f"block has sum ${one}$, the second has sum ${two}$. Find the sum of block "
                        f"number {later}."
                    ),
                    value,
                    "block",
                ),
                (
                    (
                        f"Adding the first ${size}$ terms of an arithmetic progression gives ${one}$; "
                        f"adding the ${size}$ terms that follow gives ${two}$. Find the first term."
                    ),
                    Fraction(first),
                    "first",
                ),
            )
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
        question, answer, ask = rng.choice(
            (
                (
                    (
                        f"An arithmetic sequence starts with ${first}, {first + step}, "
                        f"{first + 2 * step}, \\ldots$. What is the largest value that the sum of its "
                        "first $n$ terms can have?"
                    ),
                    best,
                    "sum",
                ),
                (
                    (
                        f"The sum $S_n$ of the first $n$ terms of ${first}, {first + step}, "
                        f"{first + 2 * step}, {first + 3 * step}, \\ldots$ (an arithmetic sequence) is "
                        "greatest for one $n$. Which $n$ is it?"
                    ),
                    count,
                    "count",
                ),
                (
                    (
                        f"Starting at ${first}$, numbers are written down, each ${-step}$ less than the "
                        "one before. The writer stops at the moment that makes the total of all "
                        "written numbers as large as possible. What is this total?"
                    ),
                    best,
                    "sum",
                ),
            )
        )
        return Problem(
            question, str(answer), {"form": form, "first": first, "step": step, "ask": ask}
        )
    if form == "equal sums":
        while True:
            m, n = sorted(rng.sample(range(5, 26), 2))
            step = _signed(rng, 1, 6) * 2
            first = -step * (m + n - 1) // 2
            k = rng.randint(2, 40)
            if (m + n - 1) * step % 2 == 0 and first + step * (k - 1):
                break
        value = first + step * (k - 1)
        question = rng.choice(
            (
                (
                    f"In an arithmetic sequence with common difference ${step}$ the sum of the "
                    f"first ${m}$ terms equals the sum of the first ${n}$ terms. Find the "
                    f"{_ordinal(k)} term."
                ),
                (
                    f"The first ${m}$ terms and the first ${n}$ terms of an arithmetic progression "
                    f"have the same sum. If each term is ${abs(step)}$ "
                    f"{'more' if step > 0 else 'less'} than the one before it, what is the "
                    f"{_ordinal(k)} term?"
                ),
                (
                    f"Let $a_1, a_2, \\ldots$ be arithmetic with $a_2 - a_1 = {step}$, and let $S_j "
                    f"= a_1 + \\cdots + a_j$. Given that $S_{{{m}}} = S_{{{n}}}$, determine "
                    f"$a_{{{k}}}$."
                ),
            )
        )
        return Problem(question, str(value), {"form": form, "m": m, "n": n, "step": step, "k": k})
    if form == "three numbers":
        middle, step = rng.randint(3, 15), rng.randint(1, 9)
        if step == middle:
            step += 1
        numbers = (middle - step, middle, middle + step)
        product = numbers[0] * numbers[1] * numbers[2]
        squares = sum(n * n for n in numbers)
        fact, key = rng.choice(
            (
                (f"product ${product}$", "product"),
                (f"squares that add up to ${squares}$", "squares"),
            )
        )
        question, answer, ask = rng.choice(
            (
                (
                    (
                        f"Three numbers in arithmetic progression have sum ${3 * middle}$ and {fact}. "
                        "What is the largest of them?"
                    ),
                    numbers[2],
                    "largest",
                ),
                (
                    (
                        f"An increasing arithmetic progression of three terms has sum ${3 * middle}$; "
                        f"its terms have {fact}. Find its common difference."
                    ),
                    step,
                    "step",
                ),
                (
                    (
                        "Find the smallest of three numbers that form an arithmetic progression, add "
                        f"up to ${3 * middle}$, and have {fact}."
                    ),
                    numbers[0],
                    "least",
                ),
            )
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
    question, answer, ask = rng.choice(
        (
            (
                (
                    f"How many terms of the arithmetic sequence ${first}, {first + step}, "
                    f"{first + 2 * step}, \\ldots$ must be added, beginning with the first, before "
                    f"the sum exceeds ${bound}$?"
                ),
                count,
                "count",
            ),
            (
                (
                    f"Beginning with ${first}$, the terms of the arithmetic sequence ${first}, "
                    f"{first + step}, {first + 2 * step}, \\ldots$ are added one after another "
                    f"until the running total is more than ${bound}$ for the first time. What is "
                    "the running total then?"
                ),
                total,
                "total",
            ),
            (
                (
                    f"Let $S_n$ be the sum of the first $n$ terms of ${first}, {first + step}, "
                    f"{first + 2 * step}, \\ldots$, an arithmetic sequence. Find the least $n$ with "
                    f"$S_n > {bound}$."
                ),
                count,
                "count",
            ),
        )
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
            ratio = rng.choice(
                (
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
        question = rng.choice(
            (
                (
                    f"The {_ordinal(m)} and {_ordinal(m + gap)} terms of a geometric sequence of "
                    f"real numbers are ${one}$ and ${two}$. Find the {_ordinal(k)} term."
                ),
                (
                    f"A geometric progression of real numbers $g_1, g_2, g_3, \\ldots$ has $g_{m} = "
                    f"{one}$ and $g_{m + gap} = {two}$. What is $g_{k}$?"
                ),
                (
                    "In a list of real numbers each entry after the first is the same multiple of "
                    f"the entry before it. Entry {m} is ${one}$ and entry {m + gap} is ${two}$. "
                    f"Determine entry {k}."
                ),
                (
                    f"Real numbers ${'' if m == 1 else 'x, ' if m == 2 else 'x, y, '}{one}, "
                    f"{'' if gap == 1 else 'u, v, '}{two}, \\ldots$ are in geometric progression. "
                    f"Which number is the {_ordinal(k)} term, counted from the beginning?"
                ),
            )
        )
        return Problem(
            question, three, {"m": m, "n": m + gap, "k": k, "am": one, "an": two, "form": "terms"}
        )
    if level == 2:
        ratio = rng.choice(
            (
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
        )
        first = Fraction(rng.randint(1, 30))
        total, squares = first / (1 - ratio), first * first / (1 - ratio * ratio)
        second = first * ratio
        odd = first / (1 - ratio * ratio)
        form = rng.choice(("squares", "second", "odd places", "first"))
        s = fraction(total)
        if form == "squares":
            question, answer, ask = rng.choice(
                (
                    (
                        (
                            f"An infinite geometric series of real numbers has sum ${s}$, and the squares "
                            f"of its terms form a series with sum ${fraction(squares)}$. What is the common "
                            "ratio of the original series?"
                        ),
                        ratio,
                        "ratio",
                    ),
                    (
                        (
                            f"The terms of an infinite geometric progression add up to ${s}$; the squares "
                            f"of the terms add up to ${fraction(squares)}$. Find the first term."
                        ),
                        first,
                        "first",
                    ),
                )
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
                    (
                        f"The sum of an infinite geometric series is ${s}$ and its second term is "
                        f"${fraction(second)}$. Only one common ratio is possible; what is it?"
                    ),
                    ratio,
                    "ratio",
                )
            else:
                if ratio < 0:
                    fact = "the common ratio is negative"
                question, answer, ask = rng.choice(
                    (
                        (
                            (
                                f"An infinite geometric series converges to ${s}$. Its second term is "
                                f"${fraction(second)}$ and {fact}. Determine the first term."
                            ),
                            first,
                            "first",
                        ),
                        (
                            (
                                f"Find the common ratio of a convergent geometric series with sum ${s}$ and "
                                f"second term ${fraction(second)}$, given that {fact}."
                            ),
                            ratio,
                            "ratio",
                        ),
                    )
                )
        elif form == "odd places":
            question, answer, ask = rng.choice(
                (
                    (
                        (
                            f"The sum of a convergent geometric series is ${s}$, while the terms in odd "
                            f"positions (first, third, fifth, and so on) have sum ${fraction(odd)}$. What "
                            "is the common ratio?"
                        ),
                        ratio,
                        "ratio",
                    ),
                    (
                        (
                            f"In an infinite geometric series, all terms together give ${s}$ and the first, "
                            f"third, fifth, ... terms together give ${fraction(odd)}$. Find the first term."
                        ),
                        first,
                        "first",
                    ),
                )
            )
        else:
            cut = rng.randint(2, 3)
            tail = total - sum(first * ratio**i for i in range(cut))
            form = f"tail {cut}"
            odd = tail
            question, answer, ask = rng.choice(
                (
                    (
                        (
                            f"A geometric series with first term ${fraction(first)}$ converges to ${s}$. "
                            "What is the sum of the series that is left when the first "
                            f"{'two' if cut == 2 else 'three'} terms are removed?"
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
        question = rng.choice(
            (
                (
                    f"The first ${n}$ terms of a geometric sequence of positive numbers have sum "
                    f"${fraction(one)}$, and the first ${2 * n}$ terms have sum ${fraction(two)}$. "
                    f"What is the sum of the first ${times * n}$ terms?"
                ),
                (
                    "Let $S_j$ denote the sum of the first $j$ terms of a geometric progression "
                    f"with positive terms. If $S_{{{n}}} = {fraction(one)}$ and $S_{{{2 * n}}} = "
                    f"{fraction(two)}$, find $S_{{{times * n}}}$."
                ),
                (
                    "Positive numbers $g_1, g_2, g_3, \\ldots$ form a geometric sequence with $g_1 "
                    f"+ \\cdots + g_{{{n}}} = {fraction(one)}$ and $g_1 + \\cdots + g_{{{2 * n}}} = "
                    f"{fraction(two)}$. Compute $g_1 + \\cdots + g_{{{times * n}}}$."
                ),
            )
        )
        return Problem(
            question,
            fraction(value),
            {"form": form, "n": n, "one": str(one), "two": str(two), "times": times},
        )
    middle = rng.randint(2, 12)
    ratio = rng.choice(
        (Fraction(2), Fraction(3), Fraction(3, 2), Fraction(4), Fraction(5, 2), Fraction(4, 3))
    )
    while (middle / ratio).denominator > 1 or (middle * ratio).denominator > 1:
        middle += 1
    numbers = (middle / ratio, Fraction(middle), middle * ratio)
    total, product, squares = sum(numbers), middle**3, sum(n * n for n in numbers)
    if form == "product":
        question, answer, ask = rng.choice(
            (
                (
                    (
                        f"Three positive numbers in geometric progression have product ${product}$ and "
                        f"sum ${total}$. Find the largest of the three."
                    ),
                    numbers[2],
                    "largest",
                ),
                (
                    (
                        "The product of three consecutive terms of an increasing geometric sequence is "
                        f"${product}$, and their sum is ${total}$. What is the common ratio?"
                    ),
                    ratio,
                    "ratio",
                ),
                (
                    (
                        f"Positive numbers $x < y < z$ satisfy $y^2 = xz$, $xyz = {product}$ and $x + y "
                        f"+ z = {total}$. Determine $z - x$."
                    ),
                    numbers[2] - numbers[0],
                    "difference",
                ),
            )
        )
        return Problem(
            question,
            fraction(answer),
            {"form": form, "product": product, "total": str(total), "ask": ask},
        )
    question, answer, ask = rng.choice(
        (
            (
                (
                    f"Three positive numbers in geometric progression add up to ${total}$, and "
                    f"their squares add up to ${squares}$. What is the middle number?"
                ),
                numbers[1],
                "middle",
            ),
            (
                (
                    "The terms of an increasing geometric progression $x, y, z$ satisfy $x + y + z "
                    f"= {total}$ and $x^2 + y^2 + z^2 = {squares}$. Find $z$."
                ),
                numbers[2],
                "largest",
            ),
            (
                (
                    "The sum of three positive real numbers that form an increasing geometric "
                    f"progression is ${total}$; the sum of their squares is ${squares}$. What is "
                    "the common ratio?"
                ),
                ratio,
                "ratio",
            ),
        )
    )
    return Problem(
        question,
        fraction(answer),
        {"form": form, "squares": str(squares), "total": str(total), "ask": ask},
    )


def _mixed(rng: Random, level: int) -> Problem:
    """Numbers in one kind of progression that become the other kind when changed."""
    if level == 1:
        while True:
            a, ratio = rng.randint(1, 12), rng.randint(2, 5)
            g = [a, a * ratio, a * ratio * ratio]
            add = rng.randint(1, 15)
            shown = [n - add for n in g]
            if all(shown):
                break
        x = rng.choice("xtkd")
        question = rng.choice(
            (
                (
                    f"What number must be added to each of ${shown[0]}$, ${shown[1]}$ and "
                    f"${shown[2]}$ to obtain three consecutive terms of a geometric sequence?"
                ),
                (
                    f"For which ${x}$ do the numbers ${_plus(shown[0], x)}$, "
                    f"${_plus(shown[1], x)}$, ${_plus(shown[2], x)}$, in this order, form a "
                    "geometric progression?"
                ),
                (
                    f"The same number ${x}$ is added to ${shown[0]}$, to ${shown[1]}$ and to "
                    f"${shown[2]}$. The results, in that order, are in geometric progression. Find "
                    f"${x}$."
                ),
                (
                    f"If ${_plus(shown[0], x)}$, ${_plus(shown[1], x)}$ and ${_plus(shown[2], x)}$ "
                    f"are successive terms of a geometric progression, what is ${x}$?"
                ),
            )
        )
        return Problem(question, str(add), {"form": "add", "shown": shown})
    if level == 2:
        # terms number i, j, k of an arithmetic sequence with difference d form a geometric one
        i, j, k = rng.choice(
            (
                (1, 2, 5),
                (1, 3, 7),
                (1, 2, 4),
                (1, 3, 9),
                (2, 3, 6),
                (1, 4, 13),
                (1, 5, 13),
                (2, 4, 8),
                (3, 4, 6),
                (1, 3, 6),
                (2, 5, 11),
                (1, 4, 10),
                (1, 3, 11),
                (1, 2, 6),
            )
        )
        d = _signed(rng, 1, 9) * (2 * j - i - k)
        # (a + (j-1)d)^2 = (a + (i-1)d)(a + (k-1)d)
        top = ((i - 1) * (k - 1) - (j - 1) ** 2) * d
        first = Fraction(top, 2 * (j - 1) - (i - 1) - (k - 1))
        chosen = [first + d * (n - 1) for n in (i, j, k)]
        if 0 in chosen or chosen[1] == chosen[0]:
            return _mixed(rng, level)
        ratio = chosen[1] / chosen[0]
        question, answer, ask = rng.choice(
            (
                (
                    (
                        f"An arithmetic sequence has common difference ${d}$. Its {_ordinal(i)}, "
                        f"{_ordinal(j)} and {_ordinal(k)} terms, in this order, form a geometric "
                        "sequence of nonzero numbers. Find the first term of the arithmetic sequence."
                    ),
                    first,
                    "first",
                ),
                (
                    (
                        f"The {_ordinal(i)}, {_ordinal(j)} and {_ordinal(k)} terms of a non-constant "
                        "arithmetic progression are consecutive terms of a geometric progression. What "
                        "is the common ratio of the geometric progression?"
                    ),
                    ratio,
                    "ratio",
                ),
                (
                    (
                        f"Let $a_1, a_2, \\ldots$ be an arithmetic sequence with $a_2 - a_1 = {d}$ such "
                        f"that $a_{{{i}}}, a_{{{j}}}, a_{{{k}}}$ are in geometric progression and not "
                        f"zero. Determine $a_{{{k}}}$."
                    ),
                    chosen[2],
                    "last",
                ),
            )
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
    ask, what, answer = rng.choice(
        (
            ("largest", "the largest of the original numbers", z),
            ("least", "the smallest of the original numbers", x),
            ("step", "the common difference of the original progression", y - x),
        )
    )
    question = rng.choice(
        (
            (
                "Three positive numbers form an increasing arithmetic progression with sum "
                f"${total}$. If {listing} are added to them, in that order, the results form a "
                f"geometric progression. Find {what}."
            ),
            (
                "An increasing arithmetic progression of three positive terms has sum "
                f"${total}$. Increase the first term by ${add[0]}$, the second by ${add[1]}$ "
                f"and the third by ${add[2]}$: now the terms are in geometric progression. What "
                f"is {what}?"
            ),
            (
                f"Positive numbers $x < y < z$ with $x + y + z = {total}$ are in arithmetic "
                f"progression, and ${_plus(add[0], 'x', False)}$, "
                f"${_plus(add[1], 'y', False)}$, ${_plus(add[2], 'z', False)}$ are in geometric "
                f"progression. Determine {what}."
            ),
        )
    )
    return Problem(
        question, fraction(answer), {"form": "turned", "total": total, "add": add, "ask": ask}
    )


def _plus(number: int, letter: str, first: bool = True) -> str:
    """Write ``3 + x``, ``x - 3`` or ``x``."""
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
