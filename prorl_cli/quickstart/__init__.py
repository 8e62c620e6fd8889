"""``prorl quickstart``: from nothing to a trained model and an honest answer, in one command."""
