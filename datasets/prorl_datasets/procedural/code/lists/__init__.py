"""Families of lists."""
