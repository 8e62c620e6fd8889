"""One run on disk: folder, checkpoints, metrics, and going on after a stop."""
