"""The logic verifier, which scores reasoning-gym's datasets. It replaces the scorers of reasoning-gym that are broken."""
