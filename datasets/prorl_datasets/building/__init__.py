"""Building a dataset: make rows, check them, choose, write."""
