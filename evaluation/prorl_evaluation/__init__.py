"""Sampling journal, pass@k with intervals, comparisons and reports."""
