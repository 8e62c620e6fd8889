"""Benchmarks evaluated together and shown in the paper's layout beside published numbers."""
