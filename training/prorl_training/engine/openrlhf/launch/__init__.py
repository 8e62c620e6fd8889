"""Check, translate, start and follow a cluster run."""
