"""The policy losses that prorl brings, one a module."""
