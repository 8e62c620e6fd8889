"""IFEvalG of open-instruct, which adds 29 instruction ids to those of IFEval."""
