"""Sample models on problems, judge the answers and keep both in a journal."""
