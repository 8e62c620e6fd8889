"""The docker backend: warm containers in which an init forks one program after another."""
