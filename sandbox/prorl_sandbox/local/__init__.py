"""Local backend: boxes in Linux namespaces, without a daemon."""
