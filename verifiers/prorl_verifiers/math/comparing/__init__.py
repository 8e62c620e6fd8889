"""Whether one tree answers another: lists, names, regions, units, choices, and what was left unevaluated."""
