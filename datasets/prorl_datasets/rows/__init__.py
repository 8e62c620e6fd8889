"""Makes rows in child processes, and stores them in part files."""
