"""The packages that programs may import beside the standard library: how they are built, kept and found."""
