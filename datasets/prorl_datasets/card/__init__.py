"""The data card of a dataset."""
