"""``prorl verify``."""
