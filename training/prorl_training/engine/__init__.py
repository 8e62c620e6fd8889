"""The loop, and the two ways of running it: in this process, or inside OpenRLHF."""
