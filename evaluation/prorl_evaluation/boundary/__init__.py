"""Claims about the reasoning boundary, tested on paired results."""
