"""The output is right when it holds the expected words in order, whatever white space lies between.

Case counts.
"""


def check(stdin: str, stdout: str, expected: str) -> bool:
    """Whether ``stdout`` and ``expected`` are the same words."""
    return stdout.split() == expected.split()
