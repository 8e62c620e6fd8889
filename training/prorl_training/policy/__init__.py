"""The policy model: passes, packing, updates and files."""
