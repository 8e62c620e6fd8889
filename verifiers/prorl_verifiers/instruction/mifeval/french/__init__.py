"""The French ids of M-IFEval, each with the published check and ours."""
