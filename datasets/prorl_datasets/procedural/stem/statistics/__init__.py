"""Families of statistics and probability."""
