"""Claims about the reasoning boundary."""
