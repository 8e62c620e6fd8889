"""Recipes: the specification of a dataset."""
