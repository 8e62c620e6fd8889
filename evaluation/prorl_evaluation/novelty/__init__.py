"""Measures the overlap of responses with a corpus or with base responses."""
