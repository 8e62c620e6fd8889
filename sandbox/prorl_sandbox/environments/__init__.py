"""Builds, stores and finds environments: packages that programs may import."""
