"""Families of integer problems."""
