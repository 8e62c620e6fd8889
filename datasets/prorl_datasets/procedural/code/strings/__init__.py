"""Families of strings, words, masks and labels."""
