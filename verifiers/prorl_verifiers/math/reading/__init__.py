"""From the text of an answer to a tree: tokens, the parsers, signs and chains written out, heaps refused."""
