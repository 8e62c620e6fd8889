"""Families of graph problems."""
