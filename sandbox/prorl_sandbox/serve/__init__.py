"""The sandbox service: a sandbox of this machine behind HTTP, for machines that cannot isolate programs.

``run.serve`` starts it, the backend ``remote:URL`` calls it. Importing this package imports no web framework.
"""
