"""Families of list problems."""
