"""``prorl eval``."""
