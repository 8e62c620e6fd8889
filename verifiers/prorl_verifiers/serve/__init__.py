"""The reward service: the verifier pool behind HTTP."""
