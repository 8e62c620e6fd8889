"""The rollouts of a run."""
