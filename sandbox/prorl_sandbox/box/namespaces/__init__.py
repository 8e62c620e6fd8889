"""The local backend's processes: a template forks slots, and each slot forks one box after another."""
