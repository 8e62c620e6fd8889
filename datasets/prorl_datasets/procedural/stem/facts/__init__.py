"""Families of facts, asked as multiple-choice questions."""
