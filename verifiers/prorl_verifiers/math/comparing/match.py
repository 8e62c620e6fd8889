"""Compares an answer's tree with a typed gold. Results are True, False or None (undecided)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import assert_never

from prorl_verifiers.findings import listening, note
from prorl_verifiers.math.comparing.families import Family
from prorl_verifiers.math.comparing.leaves import Rules, all_same, is_plain, same_leaf
from prorl_verifiers.math.comparing.regions import (
    Piece,
    as_points,
    cover_all,
    looks_like_region,
    merge_pieces,
    numbers_named,
    real_set,
    repeats,
)
from prorl_verifiers.math.comparing.relations import (
    assigned,
    is_name,
    named_apart,
    named_rows,
    reindexed,
    rounds_to,
    same_letter,
    same_name,
    same_up_to_constants,
    values_of,
)
from prorl_verifiers.math.comparing.shapes import (
    MAX_ITEMS,
    brackets_agree,
    components,
    is_decimal,
    ordered,
    same_numbers,
)
from prorl_verifiers.math.comparing.solutions import (
    same_linear_systems,
    same_solutions,
    union_of_curves,
)
from prorl_verifiers.math.evaluating.domain import Domain
from prorl_verifiers.math.evaluating.equal import infinite, same_value
from prorl_verifiers.math.reading.candidates import describes, says_nothing
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Applied,
    Bracketed,
    Cases,
    Combined,
    Listing,
    Matrix,
    NamedSet,
    Node,
    Quotient,
    Relation,
    SetOf,
    Sym,
    Words,
    symbols,
    walk,
    written,
)
from prorl_verifiers.math.targets import (
    Collection,
    Equation,
    Forms,
    Named,
    Ordered,
    Parts,
    Piecewise,
    Region,
    Rows,
    Several,
    Tree,
    Value,
    target_of,
)

MAX_SETS = 6


class Matcher:
    """Compares answers with golds. ``reason`` is the rule that made the last decision."""

    def __init__(self, rules: Rules, domain: Domain) -> None:
        self.rules, self.domain = rules, domain
        self.reason = "forms compared"

    def matches(self, target: Tree, answer: Node, final: bool = True) -> bool | None:
        """Return whether ``answer`` equals the gold (None: undecided). If ``final`` is set, ``2+3`` is not ``5``."""
        if target.node == answer:
            if listening():
                sides = {"gold": written(target.node), "answer": written(answer)}
                note("two values", True, {**sides, "rule": "the same tree"})
            return True
        if (
            isinstance(answer, Relation)
            and answer.ops == ("in",)
            and not isinstance(target, Equation)
        ):
            return self.matches(target, answer.sides[1], final)
        if (
            isinstance(answer, Listing | SetOf)
            and len(answer.items) == 1
            and not isinstance(target, Collection)
            and not isinstance(answer.items[0], SetOf)
        ):
            return self.matches(target, answer.items[0], final)
        if isinstance(answer, Listing) and self.joints_differ(target, answer):
            return False
        same = self.of_kind(target, answer, final)
        if same or not isinstance(target, Named | Several):
            return same
        curves = union_of_curves(target.node), union_of_curves(answer)
        if curves[0] is None or not isinstance(answer, Relation | Listing):
            return same
        other = curves[1] or answer
        return (
            same_solutions(curves[0], other, self.domain) if isinstance(other, Relation) else same
        )

    def of_kind(self, target: Tree, answer: Node, final: bool) -> bool | None:
        match target:
            case Value(node=node):
                return self.value(node, answer, final)
            case Named():
                if isinstance(answer, Relation):
                    answer = reindexed(target.node, answer)
                return self.named(target, answer)
            case Equation(node=node):
                return self.equation(node, answer)
            case Region(node=node):
                return self.region(node, answer)
            case Forms(items=items):
                results = [self.matches(item, answer) for item in items]
                if True in results:
                    return True
                return None if None in results else False
            case Parts():
                return self.parts(target, answer)
            case Ordered() if looks_like_region(answer) and not isinstance(answer, Bracketed):
                return self.region(target.node, answer)
            case Ordered() | Several() | Collection() | Rows() | Piecewise():
                if isinstance(answer, Relation) and "=" in answer.ops:
                    return self.chain(target, answer)
                if isinstance(answer, Words):
                    return False
                return self.collected(target, answer)
            case Family():
                return None
        assert_never(target)

    def joints_differ(self, target: Tree, answer: Listing) -> bool:
        """Return whether gold and answer differ because one says "and" and the other "or"."""
        if not isinstance(target, Several | Parts) or not isinstance(target.node, Listing):
            return False
        joints = {target.node.joint, answer.joint}
        if joints in ({"or"}, {"and"}, {","}, {",", "and"}):
            return False
        self.reason = 'one side says "and", the other "or"'
        if isinstance(target, Parts):
            return True
        both = "and" in joints
        if all(isinstance(item, Sym) for item in answer.items):
            return both
        if isinstance(target.items[0], Parts) or not all(
            isinstance(item, Relation) for item in answer.items
        ):
            return False
        names = [{name.partition("_")[0] for name in symbols(item)} for item in answer.items]
        pairs = [assigned(item) for item in answer.items]
        one_name = None not in pairs and len({pair[0] for pair in pairs if pair}) == 1
        return (both and not one_name and len(set().union(*names)) > 1) or not any(
            one & other for at, one in enumerate(names) for other in names[:at]
        )

    def collected(
        self, target: Ordered | Several | Collection | Rows | Piecewise, answer: Node
    ) -> bool | None:
        match target:
            case Ordered():
                return self.tuple(target, answer)
            case Several():
                return self.several(target, answer)
            case Collection():
                return self.set(target, answer)
            case Rows():
                return self.matrix(target, answer)
            case Piecewise():
                return self.piecewise(target.node, answer)
        assert_never(target)

    # --------------------------------------------------------------------------------------- values

    def value(self, gold: Node, answer: Node, final: bool) -> bool | None:
        """Compare one value. A name and equal expressions may precede it, as in ``x = 4/2 = 2``."""
        if isinstance(answer, Relation) and not looks_like_region(answer):
            return self.chain(Value(gold), answer)
        if isinstance(answer, EXPRESSIONS):
            same, reason = same_leaf(gold, answer, self.rules, self.domain, final)
            self.reason = reason or self.reason
            if listening():
                sides = {"gold": written(gold), "answer": written(answer)}
                note("two values", same, {**sides, "rule": reason or None})
            if same or not symbols(gold):
                return same
            if same_up_to_constants(gold, answer, self.domain):
                return True
            parts = [components(node, 3) for node in (gold, answer)]
            if parts[0] is not None and parts[1] is not None:
                return self.in_order([Value(part) for part in parts[0]], parts[1])
            return same
        items = ordered(answer)
        along = components(gold, len(items)) if items is not None else None
        if items is None or along is None:
            return False
        return self.in_order([Value(part) for part in along], items)

    def chain(self, target: Tree, answer: Relation) -> bool | None:
        """Compare each side of a chain such as ``x = 4/2 = 2`` with the gold, except leading names."""
        if set(answer.ops) - {"=", "~"}:
            return False
        sides, ops = list(answer.sides), list(answer.ops)
        if says_nothing(sides):
            self.reason = "an equation that is true by itself says nothing"
            return False
        if isinstance(target, Several | Collection | Ordered) and isinstance(sides[0], Bracketed):
            values = values_of(answer)
            axes = (Sym("x"), Sym("y"), Sym("z"))
            if isinstance(target, Ordered) and values and set(values.names) <= set(axes):
                return self.in_order(target.items, values.by_name())
            tuples = not isinstance(target, Ordered) and isinstance(target.items[0], Ordered)
            if values is not None and not isinstance(target, Ordered) and not tuples:
                return self.interchangeable(target.items, values.items)
        constant = isinstance(target, Value) and not symbols(target.node)
        while ops and (is_name(sides[0]) or (ops[0] == "=" and constant and describes(sides[0]))):
            sides, ops = sides[1:], ops[1:]
        if len(sides) == 2 and ops == ["="] and is_name(sides[1]) and not is_name(sides[0]):
            sides, ops = sides[:1], []  # 5 = x
        return self.each_side(target, sides, ops)

    def each_side(self, target: Tree, sides: list[Node], ops: list[str]) -> bool | None:
        r"""Compare each side with the gold. A side after ``\approx`` may be rounded."""
        exact = [sides[0], *(side for side, op in zip(sides[1:], ops, strict=True) if op == "=")]
        rounded = [side for side, op in zip(sides[1:], ops, strict=True) if op == "~"]
        if len(sides) > 1:
            self.reason = "every side compared"
        if rounded:
            if not all(rounds_to(exact[0], side) for side in rounded):
                return False
            results = [self.matches(target, side) for side in exact]
            if all(results):
                return True
            fair = isinstance(exact[0], Quotient) or not is_plain(exact[0])
            if len(exact) == 1 and fair and any(self.matches(target, side) for side in rounded):
                return isinstance(target, Value) and is_decimal(target.node)
            return None if None in results else False
        results = [self.matches(target, side, final=False) for side in exact[:-1]]
        results.append(self.matches(target, exact[-1]))
        return all_same(results)

    # ------------------------------------------------------------------------- names and equations

    def named(self, target: Named, answer: Node) -> bool | None:
        if not isinstance(answer, Relation) or looks_like_region(answer):
            values = values_of(answer) if isinstance(answer, Listing | SetOf) else None
            if values is not None and not all(
                same_letter(target.name, name) for name in values.names
            ):
                return False
            return self.matches(target.of, answer)
        if set(answer.ops) - {"=", "~"}:
            return False
        if len(answer.sides) == 2 and answer.sides[1] == target.name and answer.ops == ("=",):
            return self.matches(target.of, answer.sides[0])
        first = answer.sides[0]
        if answer.ops == ("~",) and not symbols(first):
            return self.matches(target.of, answer)
        renamed = same_name(target.name, first, answer)
        if renamed is None and isinstance(target.name, Applied) and is_name(first):
            return False
        if renamed is None and not is_name(target.name) and isinstance(target.name, EXPRESSIONS):
            same = isinstance(first, EXPRESSIONS) and same_value(target.name, first, self.domain)
            renamed = answer if same else None
        if renamed is not None:
            return self.each_side(target.of, list(renamed.sides[1:]), list(renamed.ops[1:]))
        solved = assigned(target.node) is not None and assigned(answer) is None
        if solved and isinstance(target.of, Value) and not symbols(target.of.node):
            return False
        return self.equation(target.node, answer)

    def equation(self, gold: Relation, answer: Node) -> bool | None:
        if not isinstance(answer, Relation):
            curve = union_of_curves(answer)
            return same_solutions(gold, curve, self.domain) if curve is not None else False
        answer = reindexed(gold, answer)
        orders = any(op != "=" for op in gold.ops)
        self.reason = "inequalities compared" if orders else "equations compared"
        return same_solutions(gold, answer, self.domain)

    def parts(self, target: Parts, answer: Node) -> bool | None:
        """Compare values such as ``x = 1, y = 2`` by name, or by position if the answer has no names."""
        self.reason = "named values compared"
        if isinstance(answer, Relation):
            answer = Listing((answer,))
        values = values_of(answer)
        rows = named_rows(answer)
        if values is not None and values.names:
            names, items = values.names, values.items
            if set(names) == set(target.names) and len(names) == len(items) == len(target.names):
                return self.in_order(
                    target.items, [items[names.index(name)] for name in target.names]
                )
            return False
        if rows is not None:
            row = rows[0] if len(rows) == 1 else None
            if row is None or not self.same_names(target.names, row.names):
                return False
            return self.in_order(target.items, row.items)
        items = answer.items if isinstance(answer, Listing) else (answer,)
        if len(items) == 1:
            inner = ordered(items[0])
            items = inner if inner is not None else items
        return self.in_order(target.items, items)

    def same_names(self, gold: Sequence[Node], answer: Sequence[Node]) -> bool:
        return len(gold) == len(answer) and all(
            one == other
            or (
                isinstance(one, EXPRESSIONS)
                and isinstance(other, EXPRESSIONS)
                and bool(same_value(one, other, self.domain))
            )
            for one, other in zip(gold, answer, strict=True)
        )

    # ---------------------------------------------------------------------------------- collections

    def in_order(self, gold: Sequence[Tree], answer: Sequence[Node]) -> bool | None:
        if len(gold) != len(answer):
            return False
        return all_same([self.matches(g, a) for g, a in zip(gold, answer, strict=True)])

    def matched(self, gold: Sequence[Tree], answer: Sequence[Node], once: bool) -> bool | None:
        """Compare two lists in any order. If ``once`` is set, repeated items count once."""
        if not once and len(gold) != len(answer):
            return False
        if max(len(gold), len(answer)) > MAX_ITEMS:
            return same_numbers([target.node for target in gold], answer, once)
        if once:
            answer = self.distinct(answer)
            gold = [target_of(item) for item in self.distinct([target.node for target in gold])]
        if len(gold) != len(answer):
            return False
        left, undecided = list(answer), False
        for target in gold:
            for index, other in enumerate(left):
                same = self.same_member(target, other)
                undecided = undecided or same is None
                if same:
                    del left[index]
                    break
            else:
                return None if undecided else False
        return True

    def same_member(self, target: Tree, other: Node, final: bool = True) -> bool | None:
        """Compare two items of a list. A set equals only a set, even if it has a single item."""
        if isinstance(target, Collection) != isinstance(other, SetOf):
            return False
        return self.matches(target, other, final)

    def distinct(self, items: Sequence[Node]) -> list[Node]:
        unique: list[Node] = []
        for item in items:
            if not any(self.same_member(target_of(other), item, False) for other in unique):
                unique.append(item)
        return unique

    def interchangeable(self, gold: Sequence[Tree], values: Sequence[Node]) -> bool:
        self.reason = "the gold does not say which value belongs to which name"
        same_length = len(gold) == len(values)
        return same_length and all(self.matches(item, one) for item in gold for one in values)

    def unnamed(self, answer: Node) -> Sequence[Node] | None:
        if not isinstance(answer, Listing | SetOf):
            return None
        values = values_of(answer)
        if values is not None and len(set(values.names)) == 1:
            return values.items
        return answer.items

    def several(self, target: Several, answer: Node) -> bool | None:
        if all(isinstance(item, Parts) for item in target.items):
            rows = named_rows(answer)
            if rows is not None:
                if len(rows) == 1 and len(target.items) > 1:
                    return False
                listed: Sequence[Node] = [
                    Listing(
                        tuple(
                            Relation((n, v), ("=",))
                            for n, v in zip(row.names, row.items, strict=True)
                        )
                    )
                    for row in rows
                ]
                return self.matched(target.items, listed, once=False)
        rows = named_rows(answer)
        if rows is not None and all(isinstance(item, Ordered) for item in target.items):
            points = [Bracketed(tuple(row.by_name()), "(", ")") for row in rows]
            return self.matched(target.items, points, once=True)
        equations = any(isinstance(item, Equation) for item in target.items)
        if not equations and (values := named_apart(answer)) is not None:
            return self.interchangeable(target.items, values)
        items = self.unnamed(answer)
        if items is not None:
            once = isinstance(answer, SetOf) or all(
                isinstance(item, Ordered) for item in target.items
            )
            same = self.matched(target.items, items, once)
            system = target.node.joint == "and" or all(
                isinstance(item, Equation) for item in target.items
            )
            if not same and system and isinstance(answer, Listing):
                self.reason = "systems compared"
                linear = same_linear_systems(target.node, answer)
                return same if linear is None else linear
            return same
        listed_in_order = ordered(answer)
        return (
            self.in_order(target.items, listed_in_order) if listed_in_order is not None else False
        )

    def set(self, target: Collection, answer: Node) -> bool | None:
        if isinstance(answer, EXPRESSIONS):
            alone = len(target.items) == 1 and not isinstance(target.items[0], Collection)
            return self.matches(target.items[0], answer) if alone else False
        equations = any(isinstance(item, Equation) for item in target.items)
        if not equations and (values := named_apart(answer)) is not None:
            return self.interchangeable(target.items, values)
        items = self.unnamed(answer)
        if items is not None:
            return self.matched(target.items, items, once=True)
        return self.region(target.node, answer) if looks_like_region(answer) else False

    def tuple(self, target: Ordered, answer: Node) -> bool | None:
        named = values_of(answer) if isinstance(answer, Listing) else None
        if named is not None and named.several:
            return self.in_order(target.items, named.by_name())
        items = ordered(answer)
        if items is None:
            items = components(answer, len(target.items))
        if items is None:
            return False
        if looks_like_region(target.node) != looks_like_region(answer) and isinstance(
            answer, Bracketed
        ):
            return False
        return self.in_order(target.items, items) if brackets_agree(target.node, answer) else False

    def matrix(self, target: Rows, answer: Node) -> bool | None:
        gold_items = [item for row in target.items for item in row]
        column = ordered(target.node)
        if isinstance(answer, Matrix):
            rows = list(answer.rows)
        elif column is not None:
            items = ordered(answer) if not isinstance(answer, SetOf) else None
            items = components(answer, len(column)) if items is None else items
            return False if items is None else self.in_order(gold_items, items)
        elif isinstance(answer, Bracketed):
            rows = [row.items for row in answer.items if isinstance(row, Bracketed)]
            if len(rows) != len(answer.items):
                return False
        else:
            return False
        if [len(row) for row in target.items] != [len(row) for row in rows]:
            return False
        return self.in_order(gold_items, [item for row in rows for item in row])

    def piecewise(self, gold: Cases, answer: Node) -> bool | None:
        """Compare definitions by cases. If there are more than four cases, they must be in the gold's order."""
        if not isinstance(answer, Cases):
            return False
        rest = [any(isinstance(row[1], Words) for row in node.rows) for node in (gold, answer)]
        if rest[0] != rest[1]:
            return self.otherwise(gold, answer, rest[0])
        if len(gold.rows) != len(answer.rows):
            return False
        undecided = False
        for order in permutations(answer.rows) if len(gold.rows) <= 4 else [answer.rows]:
            results = [
                self.matches(target_of(g), a) if not isinstance(g, Words) else isinstance(a, Words)
                for left, right in zip(gold.rows, order, strict=True)
                for g, a in zip(left, right, strict=True)
            ]
            if all(results):
                return True
            undecided = undecided or (None in results and False not in results)
        return None if undecided else False

    def otherwise(self, gold: Cases, answer: Cases, short: bool) -> bool | None:
        """Compare definitions by cases if only the gold (``short``) or only the answer has an "otherwise"."""
        fewer, left = (gold, list(answer.rows)) if short else (answer, list(gold.rows))

        def same(one: Node, other: Node) -> bool | None:
            pair = (one, other) if short else (other, one)
            return self.matches(target_of(pair[0]), pair[1])

        if not cover_all([row[1] for row in left]):
            return False
        for value, condition in (row for row in fewer.rows if not isinstance(row[1], Words)):
            row = next((r for r in left if same(condition, r[1]) and same(value, r[0])), None)
            if row is None:
                return False
            left.remove(row)
        others = [row[0] for row in fewer.rows if isinstance(row[1], Words)]
        if len(others) != 1 or not left:
            return False
        return all_same([same(others[0], row[0]) for row in left])

    # -------------------------------------------------------------------------------------- regions

    def region(self, gold: Node, answer: Node) -> bool | None:
        if isinstance(answer, Relation) and set(answer.ops) == {"="}:
            return self.chain(Region(gold), answer)
        if isinstance(gold, NamedSet) and isinstance(answer, NamedSet):
            return False
        if isinstance(gold, Combined) and isinstance(answer, Combined):
            formula = same_set_formula(gold, answer)
            if formula is not None:
                self.reason = "set formulas compared"
                return formula
        left, right = real_set(gold), real_set(answer)
        if left is None or right is None:
            if numbers_named(gold) != numbers_named(answer):
                return False
            if isinstance(gold, Relation) and isinstance(answer, Relation):
                return self.equation(gold, answer)
            values = isinstance(answer, (*EXPRESSIONS, Matrix, Bracketed, Words, Cases)) or (
                isinstance(answer, Listing)
                and all(isinstance(item, EXPRESSIONS) for item in answer.items)
            )
            return False if values or isinstance(gold, Bracketed) else None
        self.reason = "intervals compared"
        if isinstance(answer, Listing) and repeats(answer) and not isinstance(gold, Listing):
            return False
        if left.name and right.name and left.name != right.name:
            relations = isinstance(gold, Relation) and isinstance(answer, Relation)
            return self.equation(gold, answer) if relations else False  # type: ignore[arg-type]
        left, right = as_points(left), as_points(right)
        if left.among != right.among:
            return False
        placed = merge_pieces(left.pieces), merge_pieces(right.pieces)
        if placed[0] is not None and placed[1] is not None:
            return self.pieces(placed[0], placed[1])
        return self.pieces(left.pieces, right.pieces)

    def pieces(self, gold: Sequence[Piece], answer: Sequence[Piece]) -> bool | None:
        if len(gold) != len(answer):
            return False
        results: list[bool | None] = []
        for g, a in zip(gold, answer, strict=True):
            if (g.low_closed, g.high_closed) != (a.low_closed, a.high_closed):
                return False
            for left, right in ((g.low, a.low), (g.high, a.high)):
                ends = infinite(left), infinite(right)
                results.append(
                    ends[0] == ends[1] if ends != (0, 0) else self.matches(Value(left), right)
                )
        return all_same(results)


def same_set_formula(gold: Combined, answer: Combined) -> bool | None:
    """Return whether two set formulas are equal for all sets, or None if undecided."""
    leaves = [
        part for node in (gold, answer) for part in walk(node) if not isinstance(part, Combined)
    ]
    names = sorted({part.name for part in leaves if isinstance(part, Sym)})
    if not all(isinstance(part, Sym) for part in leaves) or len(names) > MAX_SETS:
        return None
    inside = (
        dict(zip(names, bits, strict=True)) for bits in product((False, True), repeat=len(names))
    )
    return all(_holds(gold, member) == _holds(answer, member) for member in inside)


def _holds(node: Node, member: dict[str, bool]) -> bool:
    if isinstance(node, Combined):
        parts = [_holds(part, member) for part in node.parts]
        if node.how == "cup":
            return any(parts)
        return all(parts) if node.how == "cap" else parts[0] and not any(parts[1:])
    return isinstance(node, Sym) and member[node.name]
