"""Intervals and tests over problems."""
