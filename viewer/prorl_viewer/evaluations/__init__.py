"""Shows evaluations on the page."""
