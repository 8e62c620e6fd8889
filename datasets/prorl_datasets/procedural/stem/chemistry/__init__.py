"""Families of chemistry."""
