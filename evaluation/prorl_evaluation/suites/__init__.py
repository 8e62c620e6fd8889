"""Benchmarks evaluated together, in the paper's layout with published numbers."""
