"""Families of problems with long inputs."""
