from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from prorl_datasets.card.plots import draw_plots, lengths_plot, rows_plot
from prorl_datasets.types import DOMAINS

BROUGHT = ("chess", "sql")


def manifest() -> dict[str, Any]:
    kept = {d: 10 * (i + 1) for i, d in enumerate((*DOMAINS, *BROUGHT))}
    target = dict.fromkeys(kept, 40)
    return {
        "counts": {"train": kept, "validation": {"math": 4}, "test": {}},
        "targets": {"train": target, "validation": {"math": 5}, "test": {"math": 5}},
    }


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [e.text or "" for e in root.iter() if e.tag.endswith(("text", "desc"))]


def test_plots_are_svg_files_named_with_what_they_show(tmp_path: Path) -> None:
    lengths = {"math": Counter({120: 3, 90_000: 1})}
    named = draw_plots(tmp_path, manifest(), lengths)
    assert list(named) == ["rows.svg", "lengths.svg"] and all(named.values())
    for name in named:
        ElementTree.fromstring((tmp_path / "images" / name).read_text())


def test_a_sixth_and_seventh_domain_are_drawn_as_those_before() -> None:
    counts = {d: Counter({100: 5}) for d in (*BROUGHT, *DOMAINS)}
    shown = texts(lengths_plot(counts))
    assert [t for t in shown if t in counts] == [*DOMAINS, *BROUGHT]
    assert {*DOMAINS, *BROUGHT} <= {*texts(rows_plot(manifest()))}


def test_a_bar_is_as_long_as_the_share_of_the_target_that_was_kept() -> None:
    root = ElementTree.fromstring(rows_plot(manifest()))
    widths: dict[str, list[float]] = {"bar s1": [], "target": []}
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        if box.get("class") in widths:
            widths[str(box.get("class"))].append(float(str(box.get("width"))))
    kept, target = widths["bar s1"][1:], widths["target"][1:]  # the first is in the legend
    assert abs(kept[0] * 4 - target[0]) < 1.0 and abs(kept[3] - target[3]) < 0.2
    assert len(kept) == len(DOMAINS) + len(BROUGHT) + 1


def test_a_split_without_rows_has_no_panel_and_a_dataset_without_rows_still_a_picture() -> None:
    assert "test" not in texts(rows_plot(manifest()))
    bare: dict[str, Any] = {
        "counts": {s: {} for s in ("train", "validation", "test")},
        "targets": {},
    }
    assert ElementTree.fromstring(rows_plot(bare)) is not None
    assert ElementTree.fromstring(lengths_plot({})) is not None
