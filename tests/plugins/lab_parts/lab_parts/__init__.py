"""One part for every door of prorl, from an installed distribution."""
