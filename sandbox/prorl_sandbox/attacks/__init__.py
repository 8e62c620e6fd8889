"""Attack suite: hostile programs that run only in boxes, and checks that the host is untouched."""
