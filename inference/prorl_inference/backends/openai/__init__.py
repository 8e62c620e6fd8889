"""Sampling from an OpenAI-compatible server."""
