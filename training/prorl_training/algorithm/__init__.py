"""The ProRL algorithm as pure functions of tensors, a file for each kind of part."""
