"""``prorl train``."""
