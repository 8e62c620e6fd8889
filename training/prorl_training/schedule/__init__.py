"""Rules that change a run over time (controller, guard, validation) and the record of their decisions."""
