"""Families of long inputs, which a rule generates."""
