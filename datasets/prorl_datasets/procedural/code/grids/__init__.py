"""Families of grids."""
