"""IFEval (arXiv 2311.07911): 25 ids, each with the published check and ours."""
