from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import Field

from prorl_common.config import (
    ConfigError,
    Section,
    all_keys,
    apply_overrides,
    check,
    merge,
    mistakes,
    parse_override,
    put,
    read_config_file,
    read_yaml,
    write_yaml,
)


class Oven(Section):
    heat: float = 180.0
    fan: bool = False
    trays: dict[str, float] = Field(default_factory=dict)


class Course(Section):
    name: str
    minutes: int = 10


class Meal(Section):
    guests: int = 4
    oven: Oven = Oven()
    courses: tuple[Course, ...] = ()


def wrong(values: dict[str, object]) -> list[str]:
    return list(mistakes(Meal, values).values())


def test_file_and_overrides_make_the_tree(tmp_path: Path) -> None:
    file = tmp_path / "meal.yaml"
    file.write_text("oven: {heat: 2e2}\ncourses: [{name: soup}, {name: pie}]\n")
    over = ["oven.fan=true", "courses.pie.minutes=40", "courses.0.minutes=5", "oven.trays.top=1"]
    values, complaints = apply_overrides(read_config_file(file), over)
    meal = check(Meal, values, [*complaints, *wrong(values)])
    assert (meal.oven.heat, meal.oven.fan, meal.oven.trays) == (200.0, True, {"top": 1.0})
    assert [(c.name, c.minutes) for c in meal.courses] == [("soup", 5), ("pie", 40)]


def test_every_mistake_is_said_at_once_with_the_nearest_key() -> None:
    values, complaints = apply_overrides({"guests": 0.5, "oven": {"heet": 1}}, ["x", "guests.a=1"])
    with pytest.raises(ConfigError) as caught:
        check(Meal, values, [*complaints, *wrong(values)])
    line = str(caught.value)
    assert line.startswith("4 settings are wrong:\n  --set x: write it as section.key=value\n")
    assert "guests.a does not exist: guests is a value, not a section" in line
    assert "unknown setting 'oven.heet' (did you mean 'oven.heat'?)" in line


def test_a_key_without_its_section_is_offered_with_it_and_one_of_an_item_in_its_place() -> None:
    assert wrong({"heat": 1}) == ["unknown setting 'heat' (did you mean 'oven.heat'?)"]
    assert wrong({"courses": [{"name": "a", "minuts": 1}]}) == [
        "unknown setting 'courses.0.minuts' (did you mean 'courses.0.minutes'?)"
    ]


def test_numbers_that_pydantic_lets_through_are_refused() -> None:
    found = wrong({"guests": True, "oven": {"trays": {"top": float("inf")}, "fan": True}})
    assert found == [
        "guests: must be a number (got true)",
        "oven.trays.top: must be a finite number (got inf)",
    ]


def test_sections_are_merged_and_values_of_their_own_replaced() -> None:
    base = {"oven": {"heat": 1, "trays": {"top": 1}}, "courses": [1]}
    over = {"oven": {"trays": {"low": 2}}, "courses": []}
    assert merge(Meal, base, over) == {"oven": {"heat": 1, "trays": {"low": 2}}, "courses": []}
    assert all_keys(Meal) == ["guests", "oven.heat", "oven.fan", "oven.trays", "courses"]


def test_a_list_is_addressed_by_number_or_by_the_only_item_of_a_name() -> None:
    items = {"courses": [{"name": "a"}, {"name": "b"}, {"name": "b"}]}
    assert put(items, ["courses", "a", "minutes"], 3)["courses"][0] == {"name": "a", "minutes": 3}
    with pytest.raises(ConfigError, match="2 entries of courses have this name; use the entry"):
        put(items, ["courses", "b", "minutes"], 3)
    with pytest.raises(ConfigError, match=r"courses\.7 does not exist; there are 0 \(a\), 1 \(b\)"):
        put(items, ["courses", "7", "minutes"], 3)
    assert items["courses"][0] == {"name": "a"}


def test_what_is_written_is_read_back_equal() -> None:
    values = {
        "a": "off",
        "b": "010",
        "c": 1e-7,
        "d": None,
        "e": ["no", "1e5", True],
        "f": "ü\ud800\x85",
    }
    assert read_yaml(write_yaml(values), "here") == values
    assert write_yaml({"path": "büro"}) == "path: büro\n"
    assert parse_override("a.b=off", "a.b=on") == (["a", "b"], "off")


def test_the_rest_of_common_needs_neither_pydantic_nor_yaml() -> None:
    script = "import sys, prorl_common; print({'yaml', 'pydantic'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "set()"


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ConfigError, match="aliases"):
        read_yaml("\n".join(lines), "here")
    assert read_yaml("a: &a [1, 2]\nb: *a", "here") == {"a": [1, 2], "b": [1, 2]}
