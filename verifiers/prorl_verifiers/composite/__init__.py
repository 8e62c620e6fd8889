"""Several verifiers for one response: a weighted mean of what they find, behind a gate."""
