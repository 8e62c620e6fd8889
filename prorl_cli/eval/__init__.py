"""``prorl eval``: a module a verb."""
