"""IFEvalG, the further ids of open-instruct: 29, each with the published check and ours."""
