"""``prorl data``."""
