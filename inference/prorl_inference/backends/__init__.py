"""The engines that sample: one module or folder each, registered as entry points (``prorl.backends``)."""
