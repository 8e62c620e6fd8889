"""Simple arithmetic problems with integer answers."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.items import Family, Item, by_level
from prorl_verifiers import Task

NAMES = ("Tom", "Mia", "Sam", "Ann", "Leo", "Eva", "Ben", "Zoe")
THINGS = ("apples", "books", "pens", "coins", "cards", "shells", "eggs", "cups")


def numeric(question: str, answer: int) -> Item:
    text = str(answer)
    return Item(question, Task("math", {"answer": text}), f"\\boxed{{{text}}}", answer=text)


def _add(rng: Random, level: int) -> Item:
    top = by_level(level, 9, 60, 999)
    a, b = rng.randint(1, top), rng.randint(1, top)
    return numeric(f"What is {a} + {b}?", a + b)


def _subtract(rng: Random, level: int) -> Item:
    top = by_level(level, 9, 90, 999)
    b = rng.randint(1, top)
    a = b + rng.randint(1, top)
    return numeric(f"What is {a} - {b}?", a - b)


def _multiply(rng: Random, level: int) -> Item:
    top = by_level(level, 9, 20, 99)
    a, b = rng.randint(2, top), rng.randint(2, top)
    return numeric(f"What is {a} times {b}?", a * b)


def _divide(rng: Random, level: int) -> Item:
    top = by_level(level, 12, 30, 120)
    b, answer = rng.randint(2, top), rng.randint(2, top)
    return numeric(f"What is {b * answer} divided by {b}?", answer)


def _double(rng: Random, level: int) -> Item:
    a = rng.randint(2, by_level(level, 20, 200, 2000))
    word = rng.choice(("double", "twice", "2 times"))
    lead = {"double": "What is double", "twice": "What is twice", "2 times": "What is 2 times"}[
        word
    ]
    return numeric(f"{lead} {a}?", 2 * a)


def _largest(rng: Random, level: int) -> Item:
    numbers = rng.sample(range(1, by_level(level, 20, 400, 5000)), by_level(level, 3, 5, 8))
    listed = ", ".join(map(str, numbers))
    return numeric(f"Which number is the largest: {listed}?", max(numbers))


def _next_in_sequence(rng: Random, level: int) -> Item:
    start, step = (
        rng.randint(1, by_level(level, 20, 60, 300)),
        rng.randint(1, by_level(level, 5, 15, 60)),
    )
    terms = ", ".join(str(start + i * step) for i in range(4))
    return numeric(f"What number comes next: {terms}, ...?", start + 4 * step)


def _missing_addend(rng: Random, level: int) -> Item:
    top = by_level(level, 9, 60, 500)
    a, x = rng.randint(1, top), rng.randint(1, top)
    return numeric(f"{a} + x = {a + x}. What is x?", x)


def _word_problem(rng: Random, level: int) -> Item:
    top = by_level(level, 6, 50, 400)
    who, thing = rng.choice(NAMES), rng.choice(THINGS)
    a, b = rng.randint(2, top), rng.randint(2, top)
    if rng.random() < 0.5:
        text = f"{who} has {a} {thing} and gets {b} more. How many {thing} does {who} have now?"
        return numeric(text, a + b)
    text = f"{who} has {a + b} {thing} and gives away {b}. How many {thing} are left?"
    return numeric(text, a)


def _groups(rng: Random, level: int) -> Item:
    top = by_level(level, 9, 25, 90)
    a, b, thing = rng.randint(2, top), rng.randint(2, top), rng.choice(THINGS)
    return numeric(f"There are {a} boxes with {b} {thing} each. How many {thing} in all?", a * b)


def _remainder(rng: Random, level: int) -> Item:
    b = rng.randint(by_level(level, 7, 9, 20), by_level(level, 15, 30, 99))
    a = rng.randint(b + 1, by_level(level, 60, 400, 5000))
    return numeric(f"What is the remainder when {a} is divided by {b}?", a % b)


def _sum_of_list(rng: Random, level: int) -> Item:
    count, top = by_level(level, 3, 4, 6), by_level(level, 6, 30, 200)
    numbers = [rng.randint(1, top) for _ in range(count)]
    return numeric(f"What is the sum of {', '.join(map(str, numbers))}?", sum(numbers))


FAMILIES = (
    Family("add", "math", _add),
    Family("subtract", "math", _subtract),
    Family("multiply", "math", _multiply),
    Family("divide", "math", _divide),
    Family("double", "math", _double),
    Family("largest", "math", _largest),
    Family("next_in_sequence", "math", _next_in_sequence),
    Family("missing_addend", "math", _missing_addend),
    Family("word_problem", "math", _word_problem),
    Family("groups", "math", _groups),
    Family("remainder", "math", _remainder),
    Family("sum_of_list", "math", _sum_of_list),
)
