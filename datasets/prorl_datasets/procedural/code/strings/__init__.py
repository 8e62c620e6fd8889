"""Families of string problems."""
