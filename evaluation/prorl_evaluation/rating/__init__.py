"""How difficult the rows of a dataset are for a model: stored samples and pass rates."""
