"""Tests which problems became solvable or unsolvable in training."""
