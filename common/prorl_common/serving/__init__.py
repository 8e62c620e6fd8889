"""Shared parts of prorl's HTTP services; they need the extra ``server``."""
