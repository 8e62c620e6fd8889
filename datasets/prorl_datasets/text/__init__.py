"""Compares texts, to find training questions that copy a benchmark question or each other.

The default rules are lexical, so they miss most paraphrases (docs/reference/decontamination.md).
"""
