"""A container's own side: its first process, the template of its programs, one run after
another."""
