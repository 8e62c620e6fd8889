"""The memory that a run takes of each GPU, and rough GPU hours."""
