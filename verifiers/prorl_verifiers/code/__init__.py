"""The code verifier, which runs a submitted program on tests in the sandbox."""
