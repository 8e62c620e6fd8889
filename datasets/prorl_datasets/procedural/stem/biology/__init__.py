"""Families of biology."""
