"""Families of algebra: equations, polynomials, inequalities, sequences, complex numbers, matrices."""
