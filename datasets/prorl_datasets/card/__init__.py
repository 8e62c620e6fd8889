"""Writes the data card of a dataset."""
