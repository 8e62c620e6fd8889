"""The OpenRLHF engine: the loop on a cluster with Ray, vLLM and DeepSpeed."""
