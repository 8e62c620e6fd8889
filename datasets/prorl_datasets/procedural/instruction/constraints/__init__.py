"""Draws IFEval's constraints and states them as sentences."""
