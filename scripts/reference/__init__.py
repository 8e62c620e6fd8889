"""Markdown tables of the code for docs/reference, with one module per subject and one function per table.

When the site is built, docs_site.py replaces ``<!-- table: NAME -->`` by the table of that name in ``tables.TABLES``.
The words of the tables come from specs, models and YAML files.
"""
