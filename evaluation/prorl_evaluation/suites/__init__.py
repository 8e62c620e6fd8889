"""Evaluates benchmarks together and shows published numbers."""
