"""The attack suite: hostile programs, which never run outside a box, held against the invariants of the host."""
