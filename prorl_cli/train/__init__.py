"""``prorl train``, and the verbs beside it."""
