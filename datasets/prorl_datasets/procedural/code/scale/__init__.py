"""Families of inputs made by a rule, too long to be written down."""
