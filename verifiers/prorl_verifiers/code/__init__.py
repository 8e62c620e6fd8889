"""The code verifier: run a submission on tests in the sandbox."""
