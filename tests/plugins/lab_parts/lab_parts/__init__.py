"""A lab's own parts of prorl: one of every door, from outside."""
