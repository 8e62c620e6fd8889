"""A run on disk: folder, checkpoints, metrics, resuming."""
