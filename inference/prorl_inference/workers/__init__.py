"""Several workers (servers, or a process a device) that sample as one generator."""
