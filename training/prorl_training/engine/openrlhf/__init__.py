"""The OpenRLHF engine: the same loop on a cluster with Ray, vLLM and DeepSpeed."""
