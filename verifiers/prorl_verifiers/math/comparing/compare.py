r"""Compare two parsed answers: lists, sets, tuples, vectors, matrices, intervals, equations, values.

Three answers: True, False, None (undecided). ``Comparison.reason`` says what decided last.
"""

from __future__ import annotations

from collections.abc import Sequence

from prorl_verifiers.math.comparing.leaves import Rules, same_leaf
from prorl_verifiers.math.comparing.regions import (
    Piece,
    in_order,
    looks_like_region,
    region,
    repeats,
)
from prorl_verifiers.math.comparing.relations import (
    assigned,
    is_name,
    rounds_to,
    same_name,
    values_of,
)
from prorl_verifiers.math.comparing.shapes import (
    brackets_agree,
    curve,
    difference,
    inside,
    no_region,
    ordered,
    same_numbers,
)
from prorl_verifiers.math.evaluating.curves import same_zeros
from prorl_verifiers.math.evaluating.equal import infinite
from prorl_verifiers.math.reading.chains import describes, says_nothing
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Applied,
    Bracketed,
    Listing,
    Matrix,
    NamedSet,
    Node,
    Relation,
    SetOf,
    Words,
    symbols,
)

MAX_ITEMS = 40
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}


class Comparison:
    """Compares under ``rules``; ``final``: the answer must be evaluated."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.reason = "forms compared"

    def same(self, gold: Node, answer: Node, final: bool = True) -> bool | None:
        """Whether two answers are the same."""
        if gold == answer:
            return True
        if looks_like_region(gold) or looks_like_region(answer):
            return self.same_region(gold, answer)
        if isinstance(gold, Relation) or isinstance(answer, Relation):
            return self.same_relation(gold, answer)
        if isinstance(gold, Words) or isinstance(answer, Words):
            return None if isinstance(gold, Words) else False
        if isinstance(gold, EXPRESSIONS) and isinstance(answer, EXPRESSIONS):
            found, reason = same_leaf(gold, answer, self.rules, final)
            self.reason = reason or self.reason
            return found
        return self.same_collection(gold, answer)

    def all_same(self, gold: Sequence[Node], answer: Sequence[Node]) -> bool | None:
        """Item by item, in order."""
        if len(gold) != len(answer):
            return False
        found = [self.same(g, a) for g, a in zip(gold, answer, strict=True)]
        return False if False in found else None if None in found else True

    def matched(
        self, gold: Sequence[Node], answer: Sequence[Node], once: bool = False
    ) -> bool | None:
        """In any order; ``once``: repeated items count once (sets)."""
        if not once and len(gold) != len(answer):
            return False
        if max(len(gold), len(answer)) > MAX_ITEMS:
            return same_numbers(gold, answer, once, MAX_ITEMS)
        if once:
            gold, answer = self.distinct(gold), self.distinct(answer)
        if len(gold) != len(answer):
            return False
        left, undecided = list(answer), False
        for item in gold:
            for index, other in enumerate(left):
                found = self.same(item, other)
                undecided = undecided or found is None
                if found:
                    del left[index]
                    break
            else:
                return None if undecided else False
        return True

    def distinct(self, items: Sequence[Node]) -> list[Node]:
        kept: list[Node] = []
        for item in items:
            if not any(self.same(other, item, final=False) for other in kept):
                kept.append(item)
        return kept

    # ---------------------------------------------------------------------------------- collections

    def same_collection(self, gold: Node, answer: Node) -> bool | None:
        """Sets, bare lists, tuples, vectors and matrices."""
        named = self.same_named(gold, answer)
        if named is not None:
            return named[0]
        if isinstance(gold, SetOf | Listing) and isinstance(answer, SetOf | Listing):
            both = isinstance(gold, SetOf) or isinstance(answer, SetOf)
            return self.matched(gold.items, answer.items, once=both)
        left, right = ordered(gold), ordered(answer)
        if left is not None and right is not None and not isinstance(gold, SetOf):
            return self.all_same(left, right) if brackets_agree(gold, answer) else False
        if isinstance(gold, Matrix) and isinstance(answer, Matrix):
            return self.same_matrix(gold, answer)
        if isinstance(gold, Matrix) or isinstance(answer, Matrix):
            return False
        if isinstance(gold, EXPRESSIONS) and isinstance(answer, SetOf):
            return self.same(gold, answer.items[0]) if len(answer.items) == 1 else False
        if isinstance(answer, EXPRESSIONS) and isinstance(gold, SetOf):
            return self.same(gold.items[0], answer) if len(gold.items) == 1 else False
        return False

    def same_matrix(self, gold: Matrix, answer: Matrix) -> bool | None:
        if [len(row) for row in gold.rows] != [len(row) for row in answer.rows]:
            return False
        flat = [[item for row in matrix.rows for item in row] for matrix in (gold, answer)]
        return self.all_same(flat[0], flat[1])

    # -------------------------------------------------------------------------------------- regions

    def same_region(self, gold: Node, answer: Node) -> bool | None:
        if isinstance(gold, NamedSet) and isinstance(answer, NamedSet):
            return False
        left, right = region(gold), region(answer)
        if left is None or right is None:
            if isinstance(gold, Relation) and isinstance(answer, Relation):
                return self.same_inequality(gold, answer)
            shapes = isinstance(gold, Bracketed | Matrix) or isinstance(answer, Bracketed | Matrix)
            return False if no_region(gold) or no_region(answer) or shapes else None
        self.reason = "intervals compared"
        if isinstance(answer, Listing) and repeats(answer) and not isinstance(gold, Listing):
            return False
        if left.name and right.name and left.name != right.name:
            return False
        placed = in_order(left.pieces), in_order(right.pieces)
        if placed[0] is not None and placed[1] is not None:
            return self.same_pieces(placed[0], placed[1])
        return self.same_pieces(left.pieces, right.pieces)

    def same_pieces(self, gold: Sequence[Piece], answer: Sequence[Piece]) -> bool | None:
        if len(gold) != len(answer):
            return False
        found: list[bool | None] = []
        for g, a in zip(gold, answer, strict=True):
            if (g.low_closed, g.high_closed) != (a.low_closed, a.high_closed):
                return False
            for left, right in ((g.low, a.low), (g.high, a.high)):
                ends = infinite(left), infinite(right)
                found.append(ends[0] == ends[1] if ends != (0, 0) else self.same(left, right))
        return False if False in found else None if None in found else True

    def same_inequality(self, gold: Relation, answer: Relation) -> bool | None:
        """``2a - 5 > 0`` and ``5 < 2a``: the same up to a constant factor."""
        if len(gold.ops) != 1 or len(answer.ops) != 1:
            return None
        left, right = difference(gold), difference(answer)
        if left is None or right is None:
            return None
        same, sign = same_zeros(left, right)
        self.reason = "inequalities compared"
        if not same or not sign:
            return None
        return gold.ops[0] == (answer.ops[0] if sign > 0 else _FLIP.get(answer.ops[0]))

    # ------------------------------------------------------------------------------------ relations

    def same_relation(self, gold: Node, answer: Node) -> bool | None:
        """Equations, assignments, memberships."""
        if isinstance(gold, Relation) and gold.ops == ("in",):
            return self.same(gold.sides[1], inside(answer))
        if isinstance(answer, Relation) and answer.ops == ("in",):
            return self.same(gold, answer.sides[1])
        named = self.same_named(gold, answer)
        if named is not None:
            return named[0]
        if isinstance(gold, Relation):
            return self.same_equation(gold, answer)
        assert isinstance(answer, Relation)
        return self.same_chain(gold, answer)

    def same_named(self, gold: Node, answer: Node) -> tuple[bool | None] | None:
        """Compare ``x = 1, y = 2`` and its like; None when no side carries names in a list."""
        if not (isinstance(gold, Listing | SetOf) or isinstance(answer, Listing | SetOf)):
            return None
        left, right = values_of(gold), values_of(answer)
        if left is None or right is None or not (left.names or right.names):
            return None
        self.reason = "named values compared"
        if left.several and right.several:
            if set(left.names) != set(right.names) or len(left.names) != len(right.names):
                return (False,)
            order = [right.items[right.names.index(name)] for name in left.names]
            return (self.all_same(left.items, order),)
        if left.several or right.several:
            plain, system = (right, left) if left.several else (left, right)
            if len(plain.items) == 1 and isinstance(plain.items[0], Bracketed):
                plain_items: Sequence[Node] = plain.items[0].items
            else:
                plain_items = plain.items
            ordered = system.items if left.several else system.by_name()
            pair = (ordered, plain_items) if left.several else (plain_items, ordered)
            return (self.all_same(*pair),)
        if left.names and right.names and left.names[0] != right.names[0]:
            return (False,)
        once = isinstance(gold, SetOf) or isinstance(answer, SetOf)
        return (self.matched(left.items, right.items, once),)

    def same_chain(self, gold: Node, answer: Relation) -> bool | None:
        """A gold without relation: every side but a leading name must be the gold, the last evaluated."""
        if set(answer.ops) - {"=", "~"}:
            return False
        sides, ops = list(answer.sides), list(answer.ops)
        if says_nothing(sides):
            self.reason = "an equation that is true by itself says nothing"
            return False
        constant = isinstance(gold, EXPRESSIONS) and not symbols(gold)
        while ops and ops[0] == "=" and (is_name(sides[0]) or (constant and describes(sides[0]))):
            sides, ops = sides[1:], ops[1:]
        return self.each_side(gold, sides, ops)

    def each_side(self, gold: Node, sides: list[Node], ops: list[str]) -> bool | None:
        """Sides behind ``=`` must be the gold; behind ``\\approx`` a rounded form of the gold may stand."""
        exact = [sides[0], *(side for side, op in zip(sides[1:], ops, strict=True) if op == "=")]
        rounded = [side for side, op in zip(sides[1:], ops, strict=True) if op == "~"]
        if rounded:
            return self.with_rounding(gold, exact, rounded)
        found = [self.same(gold, side, final=False) for side in exact[:-1]]
        found.append(self.same(gold, exact[-1]))
        if len(sides) > 1:
            self.reason = "every side compared"
        return False if False in found else None if None in found else True

    def with_rounding(self, gold: Node, exact: list[Node], rounded: list[Node]) -> bool | None:
        self.reason = "every side compared"
        if not all(rounds_to(exact[0], side) for side in rounded):
            return False
        found = [self.same(gold, side) for side in exact]
        if all(found):
            return True
        if len(exact) == 1 and any(self.same(gold, side) for side in rounded):
            return True
        return None if None in found else False

    def same_equation(self, gold: Relation, answer: Node) -> bool | None:
        if set(gold.ops) != {"="}:
            return None
        goal = assigned(gold)
        if goal is not None and not isinstance(answer, Relation):
            return self.same(goal[1], answer)
        if not isinstance(answer, Relation) or set(answer.ops) - {"=", "~"}:
            return False
        given = assigned(answer)
        if goal is not None:
            renamed = same_name(goal[0], answer.sides[0], answer)
            if renamed is None and isinstance(goal[0], Applied) and is_name(answer.sides[0]):
                return False
            if renamed is not None:
                sides = list(renamed.sides[1:])
                return self.each_side(goal[1], sides, list(renamed.ops[1:]))
        if len(gold.sides) != 2 or len(answer.sides) != 2:
            return None if len(gold.sides) == len(answer.sides) else False
        left, right = difference(gold), difference(answer)
        if left is None or right is None:
            return None
        self.reason = "equations compared"
        solved = goal is not None and given is None and not curve(goal[1])
        return False if solved else same_zeros(left, right)[0]
