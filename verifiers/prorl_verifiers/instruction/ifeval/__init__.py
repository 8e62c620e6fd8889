"""IFEval (arXiv 2311.07911): 25 ids."""
