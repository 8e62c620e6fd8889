"""Local backend: programs run in Linux namespaces, without a daemon."""
