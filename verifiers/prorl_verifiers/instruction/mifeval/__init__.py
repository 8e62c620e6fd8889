"""M-IFEval (arXiv 2502.04688): the ids of its Spanish, French and Japanese sets, a folder a language."""
