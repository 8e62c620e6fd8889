"""Shared by both backends: from a program to jobs, boxes and an Outcome."""
