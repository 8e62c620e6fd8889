"""How much of the responses occurs in a corpus, or in the base model's responses."""
