"""Attack programs that test the sandbox, and checks that the host was not harmed."""
