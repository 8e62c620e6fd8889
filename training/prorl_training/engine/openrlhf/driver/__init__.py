"""The loop's side, inside OpenRLHF's trainer process: policy, rollouts and the cluster under them."""
