"""Hostile programs, and checks that the host withstood them."""
