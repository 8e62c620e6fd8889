"""IFEvalG: 29 further ids of open-instruct."""
