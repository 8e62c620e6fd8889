"""The math verifier, which compares the last box of a response with the gold answer."""
