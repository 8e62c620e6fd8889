"""Adapters that convert the rows of published data sets."""
