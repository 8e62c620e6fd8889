"""Sampling backends, registered as entry points (``prorl.backends``)."""
