"""IFEvalG: 29 further ids of open-instruct with the published check and ours."""
