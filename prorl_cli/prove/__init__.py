"""``prorl prove``: what works on this machine, shown by running it."""
