"""Generators of code problems: one family a function, gold source and brute force written apart."""

from __future__ import annotations

from prorl_datasets.procedural.items import Family

__all__ = ["code_families"]


def code_families() -> tuple[Family, ...]:
    """Return every family of code problems. Names are unique."""
    return (
        *_numbers(),
        *_strings(),
        *_words(),
        *_lists(),
        *_graphs(),
        *_choices(),
        *_systems(),
    )


def _numbers() -> tuple[Family, ...]:
    """Return the families of integers."""
    from prorl_datasets.procedural.code import (
        numbers_bases,
        numbers_bits,
        numbers_calendars,
        numbers_congruences,
        numbers_continued,
        numbers_digit_maps,
        numbers_divisors,
        numbers_fractions,
        numbers_lattices,
        numbers_partitions,
        numbers_primes,
        numbers_ranges,
        numbers_rearranged,
        numbers_sequences,
    )

    return (
        *numbers_bases.FAMILIES,
        *numbers_bits.FAMILIES,
        *numbers_calendars.FAMILIES,
        *numbers_congruences.FAMILIES,
        *numbers_continued.FAMILIES,
        *numbers_digit_maps.FAMILIES,
        *numbers_divisors.FAMILIES,
        *numbers_fractions.FAMILIES,
        *numbers_lattices.FAMILIES,
        *numbers_partitions.FAMILIES,
        *numbers_primes.FAMILIES,
        *numbers_ranges.FAMILIES,
        *numbers_rearranged.FAMILIES,
        *numbers_sequences.FAMILIES,
    )


def _strings() -> tuple[Family, ...]:
    """Return the families of strings."""
    from prorl_datasets.procedural.code import (
        strings_brackets,
        strings_ciphers,
        strings_edits,
        strings_hashes,
        strings_layouts,
        strings_letters,
        strings_mirrors,
        strings_rewriting,
        strings_rotations,
        strings_runs,
        strings_subsequences,
        strings_substrings,
    )

    return (
        *strings_brackets.FAMILIES,
        *strings_ciphers.FAMILIES,
        *strings_edits.FAMILIES,
        *strings_hashes.FAMILIES,
        *strings_layouts.FAMILIES,
        *strings_letters.FAMILIES,
        *strings_mirrors.FAMILIES,
        *strings_rewriting.FAMILIES,
        *strings_rotations.FAMILIES,
        *strings_runs.FAMILIES,
        *strings_subsequences.FAMILIES,
        *strings_substrings.FAMILIES,
    )


def _words() -> tuple[Family, ...]:
    """Return the families of words, masks and labels."""
    from prorl_datasets.procedural.code import (
        strings_groups,
        strings_labels,
        strings_masks,
        strings_orders,
        strings_words,
    )

    return (
        *strings_groups.FAMILIES,
        *strings_labels.FAMILIES,
        *strings_masks.FAMILIES,
        *strings_orders.FAMILIES,
        *strings_words.FAMILIES,
    )


def _lists() -> tuple[Family, ...]:
    """Return the families of lists and grids."""
    from prorl_datasets.procedural.code import (
        grids_blocks,
        grids_boards,
        grids_cells,
        grids_paths,
        grids_readings,
        grids_regions,
        lists_games,
        lists_intervals,
        lists_longest,
        lists_orders,
        lists_pairs,
        lists_runs,
        lists_windows,
    )

    return (
        *lists_games.FAMILIES,
        *lists_intervals.FAMILIES,
        *lists_pairs.FAMILIES,
        *lists_orders.FAMILIES,
        *lists_runs.FAMILIES,
        *lists_windows.FAMILIES,
        *lists_longest.FAMILIES,
        *grids_blocks.FAMILIES,
        *grids_cells.FAMILIES,
        *grids_boards.FAMILIES,
        *grids_paths.FAMILIES,
        *grids_regions.FAMILIES,
        *grids_readings.FAMILIES,
    )


def _graphs() -> tuple[Family, ...]:
    """Return the families of graphs."""
    from prorl_datasets.procedural.code import (
        graphs_components,
        graphs_orders,
        graphs_paths,
        graphs_teams,
        graphs_trees,
        graphs_walks,
    )

    return (
        *graphs_components.FAMILIES,
        *graphs_orders.FAMILIES,
        *graphs_paths.FAMILIES,
        *graphs_walks.FAMILIES,
        *graphs_teams.FAMILIES,
        *graphs_trees.FAMILIES,
    )


def _choices() -> tuple[Family, ...]:
    """Return the families of choices and sequences."""
    from prorl_datasets.procedural.code import (
        dp_chains,
        dp_coins,
        dp_edits,
        dp_jumps,
        dp_knapsacks,
        dp_partitions,
        dp_words,
    )

    return (
        *dp_knapsacks.FAMILIES,
        *dp_coins.FAMILIES,
        *dp_jumps.FAMILIES,
        *dp_partitions.FAMILIES,
        *dp_chains.FAMILIES,
        *dp_edits.FAMILIES,
        *dp_words.FAMILIES,
    )


def _systems() -> tuple[Family, ...]:
    """Return the families of formal texts and simulations."""
    from prorl_datasets.procedural.code import (
        parsing_clocks,
        parsing_expressions,
        parsing_machines,
        parsing_numerals,
        parsing_records,
        parsing_texts,
        simulation_accounts,
        simulation_caches,
        simulation_cards,
        simulation_circles,
        simulation_lifts,
        simulation_robots,
        simulation_schedulers,
    )

    return (
        *parsing_clocks.FAMILIES,
        *parsing_machines.FAMILIES,
        *parsing_records.FAMILIES,
        *parsing_texts.FAMILIES,
        *parsing_expressions.FAMILIES,
        *parsing_numerals.FAMILIES,
        *simulation_lifts.FAMILIES,
        *simulation_robots.FAMILIES,
        *simulation_circles.FAMILIES,
        *simulation_caches.FAMILIES,
        *simulation_cards.FAMILIES,
        *simulation_schedulers.FAMILIES,
        *simulation_accounts.FAMILIES,
    )
