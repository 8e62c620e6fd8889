"""IFEvalG of open-instruct, with 29 more instruction ids."""
