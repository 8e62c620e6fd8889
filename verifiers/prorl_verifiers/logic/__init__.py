"""The logic verifier, which scores reasoning-gym's datasets and replaces its broken scorers."""
