"""Probability: dice, cards, urns, conditions, waiting, walks, expectation and regions."""
