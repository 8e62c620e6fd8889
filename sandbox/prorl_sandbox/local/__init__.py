"""The local backend: boxes behind Linux namespaces on this machine, without a daemon."""
