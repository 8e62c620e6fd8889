"""IFBench (arXiv 2507.02833): 58 ids with the published check and ours."""
