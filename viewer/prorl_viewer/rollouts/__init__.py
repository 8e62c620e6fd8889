"""The rollouts of a run: search, groups, prompts over the steps, and tokens."""
