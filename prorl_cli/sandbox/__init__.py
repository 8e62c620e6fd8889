"""``prorl sandbox``: a module a verb."""
