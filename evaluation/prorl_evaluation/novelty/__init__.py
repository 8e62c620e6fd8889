"""Overlap of responses with a corpus, or with the base model's responses."""
