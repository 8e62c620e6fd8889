# mypy: ignore-errors
from prorl_verifiers import VerifierSpec


def check(reference):
    if "word" not in reference:
        raise ValueError("the reference needs 'word'")


SPEC = VerifierSpec(name="word", score=lambda response, reference: 1.0, check_reference=check)
