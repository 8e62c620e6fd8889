"""Text engine: is a question a copy of a benchmark's, or of another training question?

Words, exact match, 13-grams and MinHash; numpy and the standard library only, no network, no model.
Lexical on purpose: a paraphrase or a translation is not found (docs/reference/decontamination.md).
"""
