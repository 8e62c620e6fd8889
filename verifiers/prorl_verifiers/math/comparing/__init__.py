"""Decide whether the tree of an answer matches a gold."""
