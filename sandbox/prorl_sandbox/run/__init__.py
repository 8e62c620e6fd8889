"""From a program to its Outcome, for all backends."""
