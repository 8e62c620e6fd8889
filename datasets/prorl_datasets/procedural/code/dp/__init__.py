"""Families of dynamic programming problems."""
