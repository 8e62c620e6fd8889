"""Recipes of the lab."""
