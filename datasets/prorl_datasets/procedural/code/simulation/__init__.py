"""Families of systems to simulate."""
