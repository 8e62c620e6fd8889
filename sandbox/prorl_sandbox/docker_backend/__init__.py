"""Docker backend: running containers, in which init forks one program after another."""
