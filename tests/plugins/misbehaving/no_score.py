# mypy: ignore-errors
from prorl_verifiers import VerifierSpec

SPEC = VerifierSpec(name="Empty")
