"""Measures how much responses overlap with a corpus or with the base model's responses."""
