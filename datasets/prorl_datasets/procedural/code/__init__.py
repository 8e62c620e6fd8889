"""Generates code problems, each with a gold solution and an independent brute-force solver."""
