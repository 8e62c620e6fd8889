"""The CPU layer: patches with which OpenRLHF 0.11.2 trains on a machine without a GPU.

``hook`` applies each small patch to the module that assumes CUDA, in memory only. It is off unless
``PRORL_OPENRLHF_CPU`` is 1 and does nothing if torch sees a CUDA device.
"""
