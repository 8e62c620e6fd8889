"""Evaluates trees, and compares expressions and equations by value."""
