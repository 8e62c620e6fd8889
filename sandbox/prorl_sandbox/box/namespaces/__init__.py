"""Template, supervisor, slots and boxes of the local backend."""
