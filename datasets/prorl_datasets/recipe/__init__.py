"""Recipes of datasets."""
