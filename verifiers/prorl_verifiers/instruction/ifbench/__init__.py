"""IFBench (arXiv 2507.02833): 58 ids, each with the published check and ours."""
