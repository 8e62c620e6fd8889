"""The command's side of a cluster run: check, translate, start and follow it."""
