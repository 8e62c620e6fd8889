"""Code that runs inside a Docker container of the sandbox."""
