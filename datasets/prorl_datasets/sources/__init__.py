"""Sources of rows: files, hub data sets and generators."""
