"""Overlap of responses with a corpus or the base model's responses."""
