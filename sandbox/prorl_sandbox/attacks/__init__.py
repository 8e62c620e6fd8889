"""Attack programs that test the sandbox, and checks of the host afterwards."""
