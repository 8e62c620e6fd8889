"""Converts the rows of published data sets."""
