"""Code that runs in boxes, with the standard library only; the host imports parts of it."""
