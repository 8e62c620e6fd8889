"""Confidence intervals and tests over problems."""
