"""What a run takes, reckoned before it starts."""
