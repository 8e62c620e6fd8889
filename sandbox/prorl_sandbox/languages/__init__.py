"""Programming languages that come with prorl."""
