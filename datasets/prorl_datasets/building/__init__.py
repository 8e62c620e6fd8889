"""Builds a dataset."""
