"""Sample models, score the answers, and keep both in a journal."""
