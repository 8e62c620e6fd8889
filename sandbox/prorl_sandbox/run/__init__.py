"""Run test cases of a program, for all backends."""
