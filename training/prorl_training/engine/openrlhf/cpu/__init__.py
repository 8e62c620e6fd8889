"""Patches with which OpenRLHF 0.11.2 trains without a GPU.

Off unless ``PRORL_OPENRLHF_CPU`` is 1, and if torch sees a CUDA device.
"""
