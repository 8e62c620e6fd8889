"""Problems on sizes, counts and water potential of cells."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _cell_count(rng: Random, level: int) -> Solved:
    what = pick(rng, "yeast cells", "blood cells", "sperm cells", "algal cells", "cultured cells")
    squares, cells = rng.randint(4, 25), rng.randint(40, 400)
    factor = rng.choice((2, 5, 10, 20, 50))
    lead = f"In a counting chamber {cells} {what} lie in {squares} squares"
    if level == 1:
        text = f"{lead}; the volume over a square is 0.0040 mm^3. How many cells are there in 1 "
        text += "mm^3?"
        value = cells / squares / 0.004
        wrong: tuple[float, ...] = (
            cells / 0.004,
            cells / squares * 0.004 * 1000,
            value / 10,
            value * 10,
        )
        return Solved(text, value, "", {"cells": cells, "squares": squares}, 3, wrong)
    text = f"{lead} of 0.20 mm × 0.20 mm; the chamber is 0.10 mm deep and the sample was diluted "
    text += f"{factor}-fold."
    per_ml = cells / squares / 0.004 * 1000 * factor
    if level == 2:
        text += " How many cells were in 1 mL of the undiluted sample?"
        wrong = (per_ml / factor, per_ml / 1000, per_ml / factor**2, per_ml * squares)
        parameters: dict[str, Any] = {"cells": cells, "squares": squares, "factor": factor}
        return Solved(text, per_ml, "", parameters, 3, wrong)
    alive, seed = rng.randint(60, 99), rng.randint(2, 90) / 10
    text += f" {alive}% of the cells are alive. What volume of the undiluted sample holds "
    text += f"{shown(seed)} million living cells?"
    value = seed * 1e6 / (per_ml * alive / 100)
    wrong = (seed * 1e6 / per_ml, value * factor, seed * 1e6 / per_ml * alive / 100, value / factor)
    parameters = {
        "cells": cells,
        "squares": squares,
        "factor": factor,
        "alive": alive,
        "seed": seed,
    }
    return Solved(text, value, "mL", parameters, 3, wrong)


def _water_potential(rng: Random, level: int) -> Solved:
    what = rng.choice(("a potato cell", "a root hair cell", "a leaf cell", "an onion cell"))
    c, t = clean(rng, 0.05, 0.9, 3), rng.randint(5, 35)
    law = "Ψs = -iCRT with R = 0.008314 L MPa/(mol K) and 0 °C = 273.15 K"
    value = -c * 0.008314 * (t + 273.15)
    if level == 1:
        text = f"The sap of {what} is like a {shown(c)} mol/L sucrose solution (i = 1) at {t} °C. "
        text += f"What is its solute potential, {law}?"
        wrong: tuple[float, ...] = (-value, -c * 0.008314 * t, value * 10, value * 2)
        return Solved(text, value, "MPa", {"c": c, "t": t}, 3, wrong)
    p = clean(rng, 0.1, 0.9, 2)
    if level == 2:
        text = WORDINGS.one(
            "water potential", what=what, rounded=shown(rounded(value)), t=t, law=law
        )
        psi = rounded(value)
        found = -psi / 2 / 0.008314 / (t + 273.15) * 1000
        wrong = (found * 2, found * 4, found / 1000, -psi / 2 / 0.008314 / t * 1000)
        return Solved(text, found, "mmol/L", {"psi": psi, "t": t}, 3, wrong)
    out = clean(rng, 0.05, 0.6, 3)
    outside = -2 * out * 0.008314 * (t + 273.15)
    final = outside - value - p
    text = WORDINGS.one(
        "water potential 2", what=what, c=shown(c), t=t, p=shown(p), out=shown(out), law=law
    )
    if abs(final) < 0.1:
        return _water_potential(rng, level)
    wrong = (-final, outside - value, outside - value + p, outside / 2 - value - p)
    return Solved(text, final, "MPa", {"c": c, "t": t, "p": p, "out": out}, 2, wrong)


def _magnification(rng: Random, level: int) -> Solved:
    what = pick(
        rng, "a mitochondrion", "a nucleus", "a chloroplast", "a pollen grain", "a bacterium"
    )
    zoom, image = 50 * rng.randint(4, 400), clean(rng, 4, 90, 1)
    if level == 1:
        text = f"In a micrograph with a magnification of {zoom} {what} is {shown(image)} mm long. "
        text += "What is its true length?"
        value = image / zoom * 1000
        return Solved(text, value, "µm", {"zoom": zoom, "mm": image}, 3,
                      (value / 1000, image * zoom / 1000, value * 10, value / 10))  # fmt: skip
    bar, bar_mm = rng.choice((0.5, 1, 2, 5, 10, 20)), clean(rng, 5, 40, 1)
    if level == 2:
        text = WORDINGS.one(
            "magnification", bar=shown(bar), bar_mm=shown(bar_mm), what=what, image=shown(image)
        )
        value = image / bar_mm * bar
        wrong: tuple[float, ...] = (
            bar_mm / image * bar,
            image * bar_mm / bar,
            image / bar_mm,
            value * 1000,
        )
        return Solved(text, value, "µm", {"bar": [bar, bar_mm], "mm": image}, 3, wrong)
    wide = clean(rng, 0.2, 0.9, 2)
    text = WORDINGS.one(
        "magnification 2",
        bar=shown(bar),
        bar_mm=shown(bar_mm),
        image=shown(image),
        image_times_wide=shown(round(image * wide, 2)),
    )
    length, width = image / bar_mm * bar, round(image * wide, 2) / bar_mm * bar
    value = math.pi * width**2 / 4 * length
    wrong = (value * 4, math.pi * width * length, length * width**2, value * bar_mm / bar)
    parameters: dict[str, Any] = {"bar": [bar, bar_mm], "mm": image, "wide": wide}
    return Solved(text, value, "", parameters, 3, wrong)


FAMILIES = (
    stem_family("biology_cell_count", _cell_count),
    stem_family("biology_water_potential", _water_potential),
    stem_family("biology_magnification", _magnification),
)
