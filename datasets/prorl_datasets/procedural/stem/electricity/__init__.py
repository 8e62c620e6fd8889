"""Families of electricity and magnetism."""
