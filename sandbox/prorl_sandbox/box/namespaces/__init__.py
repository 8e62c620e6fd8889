"""Processes that isolate programs with Linux namespaces."""
