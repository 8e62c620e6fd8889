"""Rules that change a run over time, and the record of their decisions."""
