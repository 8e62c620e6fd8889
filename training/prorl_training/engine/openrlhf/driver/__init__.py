"""Policy, rollouts and cluster as the loop sees them in OpenRLHF's trainer process."""
