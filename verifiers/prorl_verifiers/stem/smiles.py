"""Molecules as SMILES, compared through RDKit's canonical form (``pip install 'prorl[chem]'``)."""

from __future__ import annotations

from prorl_verifiers.libraries import Loading

MAX_SMILES = 500
"""Characters; a longer text is no SMILES here."""


def canonical_smiles(text: str, loading: Loading) -> str | None:
    """Return RDKit's canonical SMILES, None for a text that is no molecule. Raises ImportError without RDKit."""
    text = (
        text.strip()
        .strip("$`")
        .removeprefix(r"\text{")
        .removeprefix(r"\texttt{")
        .removesuffix("}")
        .strip()
    )
    if not text or len(text) > MAX_SMILES or any(letter.isspace() for letter in text):
        return None
    loading("rdkit.Chem")
    from rdkit import Chem, rdBase  # type: ignore[import-not-found,unused-ignore]

    rdBase.DisableLog("rdApp.*")
    molecule = Chem.MolFromSmiles(text)
    return None if molecule is None else str(Chem.MolToSmiles(molecule))
