"""Making rows in child processes, and part files."""
