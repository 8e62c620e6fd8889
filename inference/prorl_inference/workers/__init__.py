"""Several workers (servers, or one process per device) that sample as one generator."""
