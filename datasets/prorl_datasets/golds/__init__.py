"""Golds that are no answers: found by rule (``rules``, ``audit``) and by the votes of a model (``votes``)."""
