"""The audit, which searches for wrong answers that a verifier rewards."""
