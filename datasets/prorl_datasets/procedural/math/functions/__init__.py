"""Families of functions: composition, inverses, domains, functional equations, graphs."""
