"""Families of mathematics, by topic."""
