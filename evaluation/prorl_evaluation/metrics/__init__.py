"""Estimates from counts of right answers: pass@k, G-Pass@k, votes, posteriors."""
