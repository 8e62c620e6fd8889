"""Families of facts, asked as choices."""
