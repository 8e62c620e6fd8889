"""``prorl quickstart``."""
