"""Evaluations as subjects of the page: one or more models on the same problems."""
