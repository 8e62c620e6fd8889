"""Shows datasets on the page."""
