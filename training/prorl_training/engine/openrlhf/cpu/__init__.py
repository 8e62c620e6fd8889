"""Patches that let OpenRLHF 0.11.2 train without a GPU.

They need ``PRORL_OPENRLHF_CPU=1`` and are off if torch sees a CUDA device.
"""
