"""The Japanese ids of M-IFEval, each with the published check and ours."""
