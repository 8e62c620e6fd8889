"""Sample with several workers (servers, or one process per device) as if they were one generator."""
