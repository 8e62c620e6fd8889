"""Measures how difficult a dataset's rows are for a model."""
