"""Families of word problems of several steps."""
