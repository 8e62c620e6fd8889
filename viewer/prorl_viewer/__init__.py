"""Looks at what prorl has written."""
