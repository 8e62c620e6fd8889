"""The pool of confined, killable worker processes that score responses."""
