"""What docs/reference shows of the code: one module a subject, one function a table, as Markdown.

The site takes it in while it is built (docs_site.py): ``<!-- table: NAME -->`` in a page stands for the table of that
name in ``tables.TABLES``. Words in the tables are those of the specs, models and YAML files themselves.
"""
