"""The exploit search, which looks for wrong answers that a verifier rewards."""
