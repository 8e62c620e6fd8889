"""Shows runs on the page."""
