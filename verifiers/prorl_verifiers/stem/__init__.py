"""The STEM verifier: numbers with units and tolerance, choices, formulas and answers of several parts."""
