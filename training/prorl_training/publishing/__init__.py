"""Publish a model on the hub with a model card and the record of its run."""
