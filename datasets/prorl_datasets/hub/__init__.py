"""Provides the files of published data sets, from a mirror folder or the hub."""
