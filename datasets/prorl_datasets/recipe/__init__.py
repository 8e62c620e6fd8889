"""Loads recipes of datasets."""
