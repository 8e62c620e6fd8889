"""Provides the sources of rows: files, hub data sets and generators."""
