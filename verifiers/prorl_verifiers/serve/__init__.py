"""The reward service, which offers the verifier pool over HTTP."""
