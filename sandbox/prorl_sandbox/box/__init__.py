"""Code of the box's side, standard library only; the host imports parts of it."""
