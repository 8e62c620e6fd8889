from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from prorl_common.markup import escape, printable
from prorl_common.svg import (
    Axis,
    Key,
    Panel,
    linear_ticks,
    log_ticks,
    marker,
    picture,
    sample,
    series_colour,
    style_sheet,
)

EVIL = "</text><script>1</script>\"'&\x00\ud800\u202e]]>"
UNIT = Axis(0.0, 1.0)


def boxes(svg: str) -> list[dict[str, str]]:
    return [dict(r.attrib) for r in ElementTree.fromstring(svg).iter() if r.tag.endswith("rect")]


def test_a_point_lies_where_its_axes_say() -> None:
    panel = Panel(Axis(0.0, 10.0), Axis(0.0, 1.0), (110.0, 206.0), left=0.0, right=10.0)
    assert panel.at(0.0, 0.0) == (0.0, panel.base) and panel.at(10.0, 1.0) == (100.0, panel.top)
    assert panel.at(5.0, 0.5)[0] == pytest.approx(50.0)
    assert Axis(1.0, 100.0, log=True).place(10.0) == pytest.approx(0.5)


def test_an_axis_may_run_the_other_way() -> None:
    lanes = Panel(UNIT, Axis(1.5, -0.5))
    assert lanes.at(0.0, 0.0)[1] < lanes.at(0.0, 1.0)[1]
    svg = lanes.box((0.0, -0.3), (1.0, 0.3), "on").svg("lanes", "one")
    assert all(float(box["height"]) > 0 for box in boxes(svg))


def test_ticks_are_round_and_inside() -> None:
    assert [v for v, _ in linear_ticks(0.0, 1.0, 4)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert [s for _, s in linear_ticks(1, 12, whole=True)] == ["3", "6", "9", "12"]
    assert linear_ticks(2.0, 2.0) == ((2.0, "2"),)
    assert [s for _, s in log_ticks(0.0009, 1.1)] == ["0.001", "0.01", "0.1", "1"]
    assert [s for _, s in log_ticks(0.15, 0.6)] == ["0.2", "0.5"]
    assert len(log_ticks(1e-12, 1e3)) <= 8


def test_there_are_as_many_colours_as_series() -> None:
    colours = [series_colour(i) for i in range(40)]
    assert len({*colours}) == 40 and all(re.fullmatch("#[0-9a-f]{6}", c) for c in colours)
    assert "var(" not in style_sheet(40)


def test_neighbouring_series_differ_by_more_than_colour() -> None:
    assert len({marker(i, 0.0, 0.0) for i in range(6)}) == 6
    dashes = re.findall(r"stroke-dasharray: ([^;]*); }", style_sheet(6).split("svg text")[0])
    assert len({*dashes}) == 6


def test_a_picture_stands_alone() -> None:
    panels = [("one", Panel(UNIT, UNIT).line([(0, 0), (1, 1)], 7)), ("two", Panel(UNIT, UNIT))]
    legend = [(sample(i), f"series {i}") for i in range(8)]
    text = picture("A title", [panels], legend, 8)
    root = ElementTree.fromstring(text)
    assert root.get("width") == "640" and "var(--" not in text and "currentColor" in text
    assert series_colour(7) in text
    assert not re.search(r"<script|href|url\(|@import", text)
    assert text == picture("A title", [panels], legend, 8)
    places = [g.get("transform") for g in root.iter() if g.get("transform")]
    assert len({*places}) == 8


def test_hostile_labels_stay_text() -> None:
    axis = Axis(0.0, 1.0, ((0.5, EVIL),), EVIL)
    panel = Panel(axis, axis).marks([(0.5, 0.5)], 1).box((0, 0), (1, 1), "on", EVIL)
    for text in (panel.svg(EVIL, EVIL), picture(EVIL, [[(EVIL, panel)]], [(Key(), EVIL)], 2)):
        root = ElementTree.fromstring(text)
        assert not [e for e in root.iter() if e.tag.endswith("script")]
        assert "\u202e" not in text and "[U+202E]" in text and "\ud800" not in text


def test_words_are_left_out_of_a_box_too_small_for_them() -> None:
    panel = Panel(UNIT, UNIT)
    assert "fits" in panel.box((0, 0), (1, 1), "on", "fits").svg("", "")
    assert "too long" not in Panel(UNIT, UNIT).box((0, 0), (0.05, 1), "on", "too long").svg("", "")


def test_what_lies_outside_is_cut_and_nothing_is_drawn_of_nothing() -> None:
    panel = Panel(UNIT, UNIT).span(-5.0, 0.5, "window").span(2.0, 3.0, "window")
    (box,) = boxes(panel.svg("", ""))
    assert float(box["width"]) == pytest.approx(136.0)
    empty = Panel(UNIT, UNIT).line([], 1).band([], 1).whiskers([], 1).marks([], 1)
    assert not empty.back and not empty.front


def test_text_is_made_safe_and_nothing_else_of_it_changes() -> None:
    assert printable("a\r\nb\tc é 漢 🙂") == "a\nb\tc é 漢 🙂"
    assert printable("\x00\x1b\x85\ufdd0\U0001ffff") == "\ufffd" * 5
    assert escape("<a b='\"'>&\u202e") == "&lt;a b=&#x27;&quot;&#x27;&gt;&amp;[U+202E]"
