"""One row: made in a child process, kept in part files."""
