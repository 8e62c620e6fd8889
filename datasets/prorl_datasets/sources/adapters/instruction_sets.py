"""Converts rows of instruction sets: Llama-Nemotron, Nemotron-RL, IFEval and RLVR-IFeval.

The sets have no responses. ``witness`` in the metadata means that prorl found a response that meets the constraints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prorl_datasets.candidate import Row
from prorl_datasets.sources.adapters.fields import (
    Raw,
    Unusable,
    column,
    decoded,
    finished,
    is_missing,
    text_of,
    user_text,
    without_nulls,
)  # fmt: skip
from prorl_datasets.spec import AdapterSpec

MAX_ARGUMENT = 20_000
"""Maximum number of characters of a string argument, and 100 times the maximum length of a list."""
MAX_COUNT = 10_000
"""Maximum number of words, sentences or letters that a constraint may ask for; no response is longer."""
_QUOTED = re.compile(r"[\"“”'‘]([^\"“”'’\n]{1,60})[\"“”'’]")


def instruction_row(
    index: int, question: str, ids: Any, kwargs: Any, metadata: dict[str, Any]
) -> Row:
    """Return the row of a prompt with constraints; nulls in ``kwargs`` are dropped, 0 is kept.

    Raises Unusable for unknown or contradictory constraints.
    """
    from prorl_datasets.procedural.instruction import satisfiable

    ids = [str(i) for i in decoded(ids, (list, tuple), "instruction_id_list")]
    args = decoded([] if kwargs is None else kwargs, (list, tuple), "kwargs")
    cleaned = [without_nulls(decoded(k or {}, dict, "kwargs")) for k in args] or [{} for _ in ids]
    if not ids:
        raise Unusable("no constraints")
    if len(cleaned) != len(ids):
        raise Unusable(
            "the number of kwargs differs from the number of constraints",
            f"{len(cleaned)} for {len(ids)}",
        )
    for name, value in (pair for values in cleaned for pair in values.items()):
        members = value if isinstance(value, list | tuple) else [value]
        long = any(isinstance(m, str) and len(m) > MAX_ARGUMENT for m in members)
        large = any(isinstance(m, int | float) and not -1 <= m <= MAX_COUNT for m in members)
        if long or large or len(members) > MAX_ARGUMENT // 100:  # checking would take too long
            raise Unusable("an argument of a constraint is too large", str(name))
    cleaned = [_with_keyword(i, values, question) for i, values in zip(ids, cleaned, strict=True)]
    reference = {"instruction_id_list": ids, "kwargs": cleaned}
    row = finished(index, question, "instruction", reference, metadata=metadata, consistent=True)
    verdict, text = satisfiable(ids, cleaned, question)
    if verdict == "contradiction":
        raise Unusable("the constraints contradict each other", text)
    if verdict == "witness":
        metadata["witness"] = True
    return row


def _with_keyword(instruction: str, values: dict[str, Any], question: str) -> dict[str, Any]:
    """Return ``values``; a missing ``keyword`` is taken from ``keywords`` or from quotes in the question."""
    if instruction != "keywords:frequency" or not is_missing(values.get("keyword")):
        return values
    remaining = {key: value for key, value in values.items() if key not in ("keyword", "keywords")}
    words = values.get("keywords")
    words = list(words) if isinstance(words, list | tuple) else [words or ""]
    words = [word for word in words if not is_missing(word)]
    if not words:
        first = question.strip().split("\n\n", 1)[0]
        words = list(dict.fromkeys(word.strip() for word in _QUOTED.findall(first)))
    if len(words) != 1:
        raise Unusable(
            "keywords:frequency does not name exactly one word", ", ".join(map(str, words))
        )
    return {**remaining, "keyword": str(words[0])}


def _renamed(raw: Raw, names: Mapping[str, str]) -> dict[str, Any]:
    return {ours: raw[theirs] for theirs, ours in names.items() if not is_missing(raw.get(theirs))}


def nemotron_if(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of nvidia/Llama-Nemotron-Post-Training-Dataset, RL/instruction_following."""
    question = user_text(column(raw, ("input",), where, "nemotron_if"), "input")
    args = decoded(column(raw, ("args",), where, "nemotron_if"), dict, "args")
    ids = column(args, ("instruction_id_list",), f"{where}: args", "nemotron_if")
    kwargs = column(args, ("instruction_kwargs", "kwargs"), f"{where}: args", "nemotron_if")
    metadata = _renamed(raw, {"license": "row_licence", "used_in_training": "used_in_training"})
    return instruction_row(index, question, ids, kwargs, metadata)


def nemotron_rl_if(raw: Raw, where: str, index: int) -> Row:
    inner = raw.get("verifier_metadata")
    fields = {**raw, **(decoded(inner, dict, "verifier_metadata") if inner else {})}
    ids = column(fields, ("instruction_id_list",), where, "nemotron_rl_if")
    kwargs = column(fields, ("kwargs", "instruction_kwargs"), where, "nemotron_rl_if")
    prompt = fields.get("prompt")
    if is_missing(prompt):
        params = decoded(
            fields.get("responses_create_params") or {}, dict, "responses_create_params"
        )
        prompt = params.get("input")
    metadata = _renamed(fields, {"id": "source_id", "grading_mode": "grading_mode"})
    return instruction_row(index, user_text(prompt), ids, kwargs, metadata)


def ifeval(raw: Raw, where: str, index: int) -> Row:
    """Convert a row in google/IFEval's shape."""
    prompt = user_text(column(raw, ("prompt",), where, "ifeval"))
    ids = column(raw, ("instruction_id_list",), where, "ifeval")
    kwargs = column(raw, ("kwargs",), where, "ifeval")
    return instruction_row(index, prompt, ids, kwargs, _renamed(raw, {"key": "source_id"}))


_SIZED = {"N": "", "quantifier": "relation"}
RLVR_FUNCTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "verify_keywords": ("keywords:existence", {"keyword_list": "keywords"}),
    "verify_keyword_frequency": ("keywords:frequency", {"word": "keyword", "N": "frequency"}),
    "validate_forbidden_words": ("keywords:forbidden_words", {"forbidden_words": "forbidden_words"}),
    "verify_letter_frequency": ("keywords:letter_frequency", {"letter": "letter", "N": "let_frequency"}),
    "validate_response_language": ("language:response_language", {"language": "language"}),
    "validate_word_constraint": ("length_constraints:number_words", {**_SIZED, "N": "num_words"}),
    "verify_sentence_constraint": ("length_constraints:number_sentences", {**_SIZED, "N": "num_sentences"}),
    "validate_paragraphs": (
        "length_constraints:nth_paragraph_first_word",
        {"N": "num_paragraphs", "first_word": "first_word", "i": "nth_paragraph"},
    ),
    "verify_postscript": ("detectable_content:postscript", {"postscript_marker": "postscript_marker"}),
    "validate_placeholders": ("detectable_content:number_placeholders", {"N": "num_placeholders"}),
    "verify_bullet_points": ("detectable_format:number_bullet_lists", {"N": "num_bullets"}),
    "validate_title": ("detectable_format:title", {}),
    "validate_highlighted_sections": ("detectable_format:number_highlighted_sections", {"N": "num_highlights"}),
    "validate_sections": (
        "detectable_format:multiple_sections", {"section_splitter": "section_spliter", "N": "num_sections"},
    ),
    "validate_json_format": ("detectable_format:json_format", {}),
    "validate_repeat_prompt": ("combination:repeat_prompt", {"original_prompt": "prompt_to_repeat"}),
    "validate_two_responses": ("combination:two_responses", {}),
    "validate_uppercase": ("change_case:english_capital", {}),
    "validate_lowercase": ("change_case:english_lowercase", {}),
    "validate_frequency_capital_words": (
        "change_case:capital_word_frequency", {"N": "capital_frequency", "quantifier": "capital_relation"},
    ),
    "validate_end": ("startend:end_checker", {"end_phrase": "end_phrase"}),
    "validate_quotation": ("startend:quotation", {}),
    "validate_no_commas": ("punctuation:no_comma", {}),
}  # fmt: skip
"""Maps a function of open-instruct to (IFEval id, {function's argument: IFEval's argument}).

``verify_paragraph_count`` is missing, because its divider is ``* * *`` instead of IFEval's ``***``; so is
``validate_choice``, whose options are free. Rows with "around" are dropped, because IFEval has no such relation."""
_EXACT = {"keywords:frequency": "relation", "keywords:letter_frequency": "let_relation"}


def rlvr_ifeval(raw: Raw, where: str, index: int) -> Row:
    question = user_text(column(raw, ("messages",), where, "rlvr_ifeval"), "messages")
    truth = decoded(column(raw, ("ground_truth",), where, "rlvr_ifeval"), dict, "ground_truth")
    function = text_of(truth.get("func_name"), "func_name")
    if function not in RLVR_FUNCTIONS:
        raise Unusable("the row names a function that belongs to no IFEval id", function)
    instruction, names = RLVR_FUNCTIONS[function]
    kwargs = {
        ours: truth[theirs] for theirs, ours in names.items() if truth.get(theirs) is not None
    }
    if instruction in _EXACT:
        kwargs[_EXACT[instruction]] = "exactly"
    metadata = _renamed(raw, {"constraint_type": "constraint_type"})
    return instruction_row(index, question, [instruction], [kwargs], metadata)


NEMOTRON_IF = AdapterSpec(
    "nemotron_if",
    nemotron_if,
    "instruction",
    (("input",), ("args",)),
    summary="nvidia/Llama-Nemotron-Post-Training-Dataset, RL/instruction_following; no gold response",
)
NEMOTRON_RL_IF = AdapterSpec(
    "nemotron_rl_if",
    nemotron_rl_if,
    "instruction",
    (("instruction_id_list", "verifier_metadata"),),
    summary="nvidia/Nemotron-RL-instruction_following; no gold response",
)
RLVR_IFEVAL = AdapterSpec(
    "rlvr_ifeval",
    rlvr_ifeval,
    "instruction",
    (("messages",), ("ground_truth",)),
    summary="allenai/RLVR-IFeval, one constraint a row; no gold response",
)
