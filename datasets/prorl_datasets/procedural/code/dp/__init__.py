"""Families of choices and sequences, solved by dynamic programming."""
