"""Families of calculus: derivatives, integrals, limits, series, differential equations."""
