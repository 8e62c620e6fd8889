"""Runs a program and returns its Outcome, for all backends."""
