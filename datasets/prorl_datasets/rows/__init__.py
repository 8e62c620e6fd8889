"""Making rows in child processes, and the part files that store them."""
