"""Suites: benchmarks evaluated together and shown in the paper's layout with published numbers."""
