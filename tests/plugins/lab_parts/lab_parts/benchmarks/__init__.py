"""Benchmarks of the lab."""
