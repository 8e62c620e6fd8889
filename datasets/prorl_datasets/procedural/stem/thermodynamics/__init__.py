"""Families of heat and gases."""
