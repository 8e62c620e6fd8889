"""Reads LaTeX, exact numbers and units for the math and STEM verifiers."""
