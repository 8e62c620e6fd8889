"""Benchmarks evaluated together, with published numbers."""
