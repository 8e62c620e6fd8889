"""Computes confidence intervals and tests over problems."""
