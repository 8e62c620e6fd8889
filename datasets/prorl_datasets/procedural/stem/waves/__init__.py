"""Families of waves, light and quanta."""
