"""Families of parsing problems."""
