"""The rollouts of a run: found by filter and text, in groups, over the steps, token by token."""
