"""Code of the box's side, standard library only. The host imports parts of it but runs no program in its own
process.
"""
