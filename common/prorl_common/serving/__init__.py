"""What our HTTP services share: the socket, bounds on connections, host and token, bodies, metrics. Needs the extra ``server``."""
