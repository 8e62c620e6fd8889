"""What our HTTP services share: the socket, the token, bodies, a fair queue, draining, metrics.

Importing this package imports no web framework; its modules need the extra ``server``.
"""
