"""Text comparison: is a question a copy of a benchmark's, or of another training question?

The default rules are lexical, so most paraphrases are not found (docs/reference/decontamination.md).
"""
