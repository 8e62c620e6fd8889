"""Runs as subjects of the page."""
