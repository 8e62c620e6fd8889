"""Datasets as subjects of the page."""
