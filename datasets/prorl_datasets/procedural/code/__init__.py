"""Generators of code problems: one family a function, gold source and brute force written apart."""
