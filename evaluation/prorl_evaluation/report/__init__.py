"""The report of an evaluation: one page, Markdown, JSON."""
