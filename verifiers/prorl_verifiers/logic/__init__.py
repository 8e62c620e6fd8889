"""The logic verifier: reasoning-gym's datasets, with our own scorers where upstream's are broken."""
