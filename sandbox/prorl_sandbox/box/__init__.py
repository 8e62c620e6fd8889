"""What runs on the box's side of the fence: template, slots, isolation, harness, wire format.

Standard library only. The template is started by path in a fresh interpreter; the host imports only
``wire`` (and never runs a program in its own process).
"""
