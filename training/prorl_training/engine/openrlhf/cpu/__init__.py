"""The CPU layer: what OpenRLHF 0.11.2 needs in order to train on a machine without a GPU.

OpenRLHF takes a CUDA device for granted. Each such assumption is met by one small function of this package,
which ``hook`` applies right after (or around) the module that makes it. Nothing installed is edited. The layer is
off unless ``PRORL_OPENRLHF_CPU`` is 1, and does nothing where torch sees a CUDA device.
Leaves out: the environment of a run (``prorl_training.engine.openrlhf.launch.environment``), the arguments that keep
OpenRLHF off CUDA paths that are not met here (CUDA IPC, vLLM's sleep, ``--vllm.sync_with_ray``).
"""
