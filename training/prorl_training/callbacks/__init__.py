"""ProRL's controller in other trainers."""
