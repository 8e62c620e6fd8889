"""The STEM verifier, for quantities with a tolerance, choices, formulas and answers of several parts."""
