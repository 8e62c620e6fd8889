"""Text comparison: is a question a copy of a benchmark's, or of another training question?

Lexical, so translations and most paraphrases are not found (docs/reference/decontamination.md).
"""
