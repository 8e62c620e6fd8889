"""Families of mathematical problems, a folder a topic."""
