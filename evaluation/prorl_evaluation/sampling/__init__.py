"""Samples models, scores the answers, and journals samples and verdicts."""
