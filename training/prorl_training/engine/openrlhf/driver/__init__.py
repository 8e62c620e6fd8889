"""The loop's parts in OpenRLHF's trainer process."""
