"""The wordings of IFEval's constraints."""
