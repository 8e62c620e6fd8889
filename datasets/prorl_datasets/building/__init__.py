"""Building a dataset."""
