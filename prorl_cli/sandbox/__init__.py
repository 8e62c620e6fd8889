"""``prorl sandbox``."""
