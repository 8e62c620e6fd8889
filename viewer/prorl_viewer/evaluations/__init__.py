"""Evaluations as subjects of the page."""
