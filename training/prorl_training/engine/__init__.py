"""The training loop and its two engines: in this process, or on OpenRLHF."""
