"""Science problems with known answers, generated: one family a relation or concept, seven fields.

Holds only the list; ``problem`` builds items from solved problems, the other modules hold families.
"""

from __future__ import annotations

from importlib import import_module

from prorl_datasets.procedural.items import Family

__all__ = ["stem_families"]
_MODULES = (
    "mechanics_motion",
    "mechanics_forces",
    "mechanics_paths",
    "mechanics_energy",
    "mechanics_collisions",
    "mechanics_oscillation",
    "mechanics_rotation",
    "mechanics_gravity",
    "mechanics_fluids",
    "mechanics_flow",
    "electricity_circuits",
    "electricity_networks",
    "electricity_fields",
    "electricity_magnetism",
    "thermodynamics_heat",
    "thermodynamics_transfer",
    "thermodynamics_gases",
    "thermodynamics_engines",
    "waves_strings",
    "waves_sound",
    "waves_interference",
    "waves_rays",
    "waves_quanta",
    "biology_body",
    "biology_cells",
    "biology_ecology",
    "biology_genetics",
    "biology_molecules",
    "biology_sizes",
    "chemistry_amounts",
    "chemistry_balance",
    "chemistry_composition",
    "chemistry_energy",
    "chemistry_reactions",
    "chemistry_solubility",
    "chemistry_solutions",
    "facts_biology",
    "facts_chemistry",
    "facts_physics",
    "statistics_data",
    "statistics_draws",
    "statistics_inference",
    "statistics_lines",
    "statistics_probability",
)
"""The modules whose ``FAMILIES`` are listed, in this order."""


def stem_families() -> tuple[Family, ...]:
    """Return every STEM family. Names are unique and begin with the field's name."""
    families: list[Family] = []
    for name in _MODULES:
        families += import_module(f"{__name__}.{name}").FAMILIES
    return tuple(families)
