"""Families of grid problems."""
