"""``prorl verify``: the group and its short verbs in ``app``, the longer ones in modules of their own."""
