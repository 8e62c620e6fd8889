"""Families of mechanics."""
