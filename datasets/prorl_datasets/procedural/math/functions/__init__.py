"""Families about functions: composition, inverses, domains, functional equations, graphs."""
