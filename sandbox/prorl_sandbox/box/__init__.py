"""Code that runs on the box's side: template, slots, isolation, harness and wire format. It uses only the standard
library; the host imports parts of it but never runs a program in its own process.
"""
