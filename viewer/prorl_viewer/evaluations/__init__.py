"""Evaluations as subjects of the page: one or several models on the same problems."""
