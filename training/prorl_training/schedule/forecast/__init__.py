"""Where a run's validation is heading: curves fitted to it, intervals for the ceiling and for a later step, or a refusal."""
