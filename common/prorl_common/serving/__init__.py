"""Code that prorl's HTTP services share. It needs the extra ``server``."""
