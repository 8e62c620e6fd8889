"""Families of formal texts."""
