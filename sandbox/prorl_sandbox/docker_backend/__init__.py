"""Docker backend: warm containers whose init forks one program after another."""
