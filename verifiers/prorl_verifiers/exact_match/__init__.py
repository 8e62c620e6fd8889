"""Exact match after filters, as lm-evaluation-harness scores ``generate_until`` tasks."""
