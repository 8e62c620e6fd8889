"""Docker backend: warm containers whose init process forks one program after another."""
