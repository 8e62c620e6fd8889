"""Samples models, scores the answers, and journals both."""
