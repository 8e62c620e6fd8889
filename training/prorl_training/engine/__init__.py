"""The training loop and its engines."""
