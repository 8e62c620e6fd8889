"""Compares texts: is a question a copy of a benchmark's, or of another training question?

The default rules are lexical, so they miss most paraphrases (docs/reference/decontamination.md).
"""
