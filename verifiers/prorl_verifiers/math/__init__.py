"""The math verifier: compares the last box of a response with the gold answer."""
