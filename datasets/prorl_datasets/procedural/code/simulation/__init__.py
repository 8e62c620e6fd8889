"""Families of simulation problems."""
