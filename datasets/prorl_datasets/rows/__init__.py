"""Makes rows in child processes, and stores part files."""
