"""IFBench (arXiv 2507.02833): 58 ids."""
