"""The STEM verifier: quantities with tolerance, choices, formulas and answers of several parts."""
