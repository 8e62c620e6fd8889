"""The reward service: the verifier pool behind HTTP, for trainers on other processes and machines.

``run.serve`` starts it, ``client.RemoteVerifier`` calls it. Importing this package imports no web
framework.
"""
