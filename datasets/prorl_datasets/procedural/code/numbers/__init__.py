"""Families of integers."""
