"""IFBench (arXiv 2507.02833), with 58 instruction ids."""
