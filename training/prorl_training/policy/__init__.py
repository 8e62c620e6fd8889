"""The model in training: its passes, its packs of tokens, its update, its files."""
