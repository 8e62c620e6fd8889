"""Writes reports as data, sentences, Markdown and model-card sections."""
