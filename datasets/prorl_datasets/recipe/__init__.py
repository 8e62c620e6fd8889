"""Recipes: what a dataset is made of."""
