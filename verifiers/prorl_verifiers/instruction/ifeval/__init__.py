"""IFEval (arXiv 2311.07911): 25 ids with the published check and ours."""
