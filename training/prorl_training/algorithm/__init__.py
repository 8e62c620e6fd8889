"""The ProRL algorithm as pure functions of tensors."""
