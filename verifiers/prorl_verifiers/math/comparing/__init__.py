"""Decides whether an answer's tree matches a gold."""
