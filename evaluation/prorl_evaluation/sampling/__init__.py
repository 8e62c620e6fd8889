"""Sample models on problems, score the answers, and keep both in a journal."""
