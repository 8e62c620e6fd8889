"""The classes that stand in for OpenRLHF's own in its Ray processes.

Unlike the rest of prorl these modules import ray, torch and openrlhf when they are imported: only the
processes of a cluster run do that.
"""
