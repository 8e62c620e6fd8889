"""IFEval (arXiv 2311.07911), with 25 instruction ids."""
