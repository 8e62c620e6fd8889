"""Our own generators: families of problems with known answers, needing no download."""

from __future__ import annotations

from prorl_datasets.procedural.items import Family, Item

__all__ = ["Family", "Item", "families"]


def families() -> dict[str, Family]:
    """Return every family by name. Names are unique over all domains."""
    from prorl_datasets.procedural.code import code_families
    from prorl_datasets.procedural.code_pipelines import CODE_PIPELINE_FAMILIES
    from prorl_datasets.procedural.code_simple import CODE_SIMPLE_FAMILIES
    from prorl_datasets.procedural.instruction import ifeval_families
    from prorl_datasets.procedural.instruction_families import instruction_families
    from prorl_datasets.procedural.math_families import MATH_FAMILIES
    from prorl_datasets.procedural.stem import stem_families
    from prorl_datasets.procedural.stem_facts import STEM_FACT_FAMILIES
    from prorl_datasets.procedural.stem_numeric import STEM_NUMERIC_FAMILIES

    everything = (
        *MATH_FAMILIES,
        *CODE_SIMPLE_FAMILIES,
        *CODE_PIPELINE_FAMILIES,
        *code_families(),
        *STEM_NUMERIC_FAMILIES,
        *STEM_FACT_FAMILIES,
        *stem_families(),
        *instruction_families(),
        *ifeval_families(),
    )
    table = {family.name: family for family in everything}
    if len(table) != len(everything):
        names = [family.name for family in everything]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise RuntimeError(f"two procedural families share a name: {', '.join(twice)}")
    return table
