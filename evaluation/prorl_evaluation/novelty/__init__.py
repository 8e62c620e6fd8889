"""Novelty of responses: how much of them occurs in a corpus, or in the base model's responses."""

from prorl_evaluation.novelty.corpus import Corpus, FileCorpus, Read, TextCorpus
from prorl_evaluation.novelty.coverage import LENGTHS, Measured, Novelty, measure
from prorl_evaluation.novelty.responses import Response, ResponseSet, read_responses

__all__ = [
    "LENGTHS",
    "Corpus",
    "FileCorpus",
    "Measured",
    "Novelty",
    "Read",
    "Response",
    "ResponseSet",
    "TextCorpus",
    "measure",
    "read_responses",
]
