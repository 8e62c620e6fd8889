"""Show what a run, a dataset or an evaluation holds, as a page."""
