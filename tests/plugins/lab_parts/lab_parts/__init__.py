"""One plug-in part for each of prorl's plug-in groups, in an installed distribution."""
