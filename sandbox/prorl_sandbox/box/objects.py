"""Linked lists, binary trees and other objects that a test and a submission exchange."""

from __future__ import annotations

import builtins

from prorl_sandbox.box import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

# Bind builtins before any program runs; see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

GRAPH, OBJECT, HELD = "graph", "o", "held"
"""Tags of encoded values: a value with objects, a reference to one of them, and an object kept by the submission."""
FIELDS = {"ListNode": ("val", "next"), "TreeNode": ("val", "left", "right")}
"""Attributes of the classes whose objects are copied out of a submission."""


class ListNode:
    def __init__(self, val: Any = 0, next: ListNode | None = None) -> None:
        self.val = val
        self.next = next


class TreeNode:
    def __init__(
        self, val: Any = 0, left: TreeNode | None = None, right: TreeNode | None = None
    ) -> None:
        self.val = val
        self.left = left
        self.right = right


_PLAIN = frozenset({type(None), bool, int, float, str})
KINDS: dict[str, type] = {"ListNode": ListNode, "TreeNode": TreeNode}


def list_node(values: Any, cls: Any = ListNode) -> Any:
    head = None
    for value in reversed(values or ()):
        head = _new(cls, {"val": value, "next": head})
    return head


def tree_node(values: Any, cls: Any = TreeNode) -> Any:
    """Return the binary tree of ``values`` in LeetCode's order: level by level, None for a missing child."""
    if not values:
        return None
    blank = {"left": None, "right": None}
    nodes = [None if value is None else _new(cls, {"val": value, **blank}) for value in values]
    parents = [node for node in nodes if node is not None]
    for place, node in enumerate(nodes[1:]):
        if place // 2 >= len(parents):
            break
        setattr(parents[place // 2], "right" if place % 2 else "left", node)
    return nodes[0]


def is_same_list(first: Any, second: Any) -> bool:
    while first is not None and second is not None:
        if first.val != second.val:
            return False
        first, second = first.next, second.next
    return first is None and second is None


def is_same_tree(first: Any, second: Any) -> bool:
    pairs = [(first, second)]
    while pairs:
        one, other = pairs.pop()
        if one is None or other is None:
            if one is not None or other is not None:
                return False
        elif one.val == other.val:
            pairs += [(one.left, other.left), (one.right, other.right)]
        else:
            return False
    return True


BUILDERS = {"ListNode": list_node, "TreeNode": tree_node}
HELPERS = {
    **KINDS,
    **{one.__name__: one for one in (list_node, tree_node, is_same_list, is_same_tree)},
}
"""Names that every test can use."""


def _new(cls: Any, attributes: Mapping[str, Any]) -> Any:
    made = cls.__new__(cls)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def build(kind: str, values: Any, names: Mapping[str, Any]) -> Any:
    """Build a ``ListNode`` or ``TreeNode`` from ``values``, with the class of that name in ``names``, if any."""
    return BUILDERS[kind](values, names.get(kind, KINDS[kind]))


def build_annotated(annotation: Any, value: Any, names: Mapping[str, Any]) -> Any:
    """Convert a list to a linked list or tree if the annotation contains ``ListNode`` or ``TreeNode``."""
    text = str(annotation)
    kind = next((kind for kind in FIELDS if kind in text), None)
    if kind is None or type(value) is not list:
        return value
    if "ist[" in text:
        return [build(kind, one, names) if type(one) is list else one for one in value]
    return build(kind, value, names)


def empty_if_none(annotation: Any, value: Any) -> Any:
    """Replace None by an encoded empty linked list or tree if the annotation contains ``ListNode`` or ``TreeNode``."""
    if value is not None:
        return value
    text = str(annotation)
    return next(({kind: []} for kind in FIELDS if kind in text), None)


def revive(
    value: Any, names: Mapping[str, Any], held: Sequence[Any] = (), made: Sequence[Any] = ()
) -> Any:
    """Rebuild the encoded objects in ``value``, using classes of the program's global variables ``names``.

    An encoded number refers to an object in ``held``, which this process kept, or in ``made``, already rebuilt.
    """
    kind = type(value)
    if kind is list:
        if _PLAIN.issuperset(map(type, value)):
            return value
        return [revive(item, names, held, made) for item in value]
    if kind is dict:
        return {key: revive(item, names, held, made) for key, item in value.items()}
    if kind is not tuple:
        return value
    if not value or value[0] is not columns.MARK:
        return tuple([revive(item, names, held, made) for item in value])
    _, tag, parts = value
    if tag == OBJECT:
        return made[parts]
    if tag == HELD:
        return held[parts]
    if tag == GRAPH:
        inner, classes, rows = parts
        kinds: list[Any] = [
            names.get(name, KINDS.get(name)) or type(name, (), {}) for name, *_ in classes
        ]
        made = [kinds[number].__new__(kinds[number]) for number, *_ in rows]
        for one, (number, *values) in zip(made, rows, strict=True):
            for attribute, item in zip(classes[number][1:], values, strict=True):
                object.__setattr__(one, attribute, revive(item, names, held, made))
        return revive(inner, names, held, made)
    parts = [revive(part, names, held, made) for part in parts]
    return build(tag, parts[0], names) if tag in KINDS else columns.build(tag, parts)


class OpaqueError(BaseException):
    """Raised if a test compares, or calculates with, an object that cannot be copied from the submission."""


class Remote:
    """Proxy of a submission's object in the test's process. It cannot be compared with other objects."""

    __slots__ = ("_ask", "_number", "_refuse")

    def __init__(
        self, number: int, ask: Callable[..., Any], refuse: Callable[[], NoReturn]
    ) -> None:
        for name, value in (("_number", number), ("_ask", ask), ("_refuse", refuse)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            self._refuse()
        return self._ask(self._number, "getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask(self._number, "setattr", name, value)

    @property
    def __class__(self) -> Any:
        return self._refuse()

    @__class__.setter
    def __class__(self, cls: Any) -> None:
        self._refuse()


OPERATIONS: dict[str, Callable[..., Any]] = {
    "getattr": getattr,
    "setattr": setattr,
    "call": lambda value, /, *args, **kwargs: value(*args, **kwargs),
    "getitem": lambda value, key: value[key],
    "setitem": lambda value, key, item: value.__setitem__(key, item),
    "delitem": lambda value, key: value.__delitem__(key),
    "len": len,
    "iter": iter,
    "next": next,
    "bool": lambda value: True if value else False,  # noqa: SIM210 - of a type of its own
    "str": str,
    "repr": repr,
    "int": int,
    "float": float,
}
"""Operations that a test may apply to an object kept by the submission."""
_REFUSED = (
    "eq ne lt le gt ge hash format index complex add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod"
    " rmod pow rpow matmul rmatmul and rand or ror xor rxor lshift rlshift rshift rrshift neg pos abs invert round"
    " reversed enter exit reduce reduce_ex"
)


def _forward(operation: str) -> Callable[..., Any]:
    def method(self: Remote, /, *args: Any, **kwargs: Any) -> Any:
        return self._ask(self._number, operation, *args, **kwargs)

    return method


def _refuse(self: Remote, *args: Any) -> None:
    self._refuse()


for _name in OPERATIONS:
    if _name not in ("getattr", "setattr"):
        setattr(Remote, f"__{_name}__", _forward(_name))
for _name in _REFUSED.split():
    setattr(Remote, f"__{_name}__", _refuse)
