"""Parses the text of an answer into a tree."""
