"""``prorl doctor``: to be written."""


def doctor() -> None:
    """To be written."""
