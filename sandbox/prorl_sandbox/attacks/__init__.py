"""Hostile programs and the host's invariants."""
