"""Shows the rollouts of a run."""
