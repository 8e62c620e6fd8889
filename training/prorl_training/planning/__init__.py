"""Estimates of a run's GPU memory and GPU hours."""
