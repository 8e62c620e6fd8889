"""What of a task of lm-evaluation-harness can be scored here, and why the rest cannot.

A task is taken if it samples text (``generate_until``), is written in YAML alone, and is judged by ``exact_match``
after filters of one answer. Keys and defaults: docs/task_guide.md and api/task.py of EleutherAI/lm-evaluation-harness
(0.4.13). Leaves out: rows and prompts (``harness_problems``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_evaluation.exchange.harness_yaml import Code, read_task_file
from prorl_evaluation.types import EvaluationError
from prorl_verifiers import TaskError
from prorl_verifiers.exact_match.reference import OPTIONS, read

MAX_SAMPLES, LONGEST, HOTTEST = 100_000, 10**7, 100.0
"""Answers a problem, tokens an answer, and temperature that a task may ask for."""
MAX_TOKENS = 256
"""Tokens an answer may have where a task does not say."""
FLAGS = ("ignore_case", "ignore_punctuation", "ignore_numbers")
IGNORING = (*FLAGS, "regexes_to_ignore")
EXACT = "exact_match"
NEUTRAL = ("metric", "aggregation", "higher_is_better", "hf_evaluate")
ONE_ANSWER = "take_first"
CHOSEN_FROM = ("metric_list", "filter_list")
"""Lists of which one entry is enough: what is Python in the others does not stand against the task."""
WHY_NOT = {
    "multiple_choice": "compares log-likelihoods of the choices",
    "loglikelihood": "measures log-likelihoods",
    "loglikelihood_rolling": "measures perplexity",
}
SAMPLERS = ("default", "first_n")


class RefusedTask(EvaluationError):
    """A task that is not programmatic, or not in a way that is understood; ``reasons`` says all that stand against it."""

    def __init__(self, where: str, reasons: Sequence[str]) -> None:
        self.reasons = tuple(reasons)
        super().__init__(f"{where} is not imported: {'; '.join(reasons)}")


@dataclass(frozen=True, slots=True)
class Shots:
    """Examples before the question: ``count`` of ``samples``, else of a split; ``text`` and ``target`` as the task's.

    ``beside``: the row that is asked is left out of them. The harness does so where the split that examples are said to
    be of is ``test_split``, or neither is named; not where it is the ``validation_split`` that is asked.
    """

    count: int = 0
    split: str | None = None
    samples: tuple[Mapping[str, Any], ...] | None = None
    sampler: str = "default"
    beside: bool = False
    text: str = ""
    target: Any = ""
    choices: Any = None
    target_delimiter: str = " "
    delimiter: str = "\n\n"


@dataclass(frozen=True, slots=True)
class HarnessTask:
    """A task that can be scored here. ``filters``: name of a pipeline -> the exact-match verifier's filters."""

    name: str
    dataset: str
    data_files: Mapping[str, tuple[str, ...]]
    split: str
    text: str
    target: Any
    choices: Any
    description: str
    shots: Shots
    until: tuple[str, ...]
    max_tokens: int
    temperature: float
    top_p: float
    repeats: int
    filters: Mapping[str, tuple[Mapping[str, Any], ...]]
    comparing: Mapping[str, Any]
    base: Path
    notes: tuple[str, ...] = ()
    version: str | None = None


def read_harness_task(path: Path) -> HarnessTask:
    """Return the task in a YAML file. Raises RefusedTask with every reason, EvaluationError for a broken file."""
    return _Reading(path, read_task_file(path)).task()


@dataclass
class _Reading:
    path: Path
    row: dict[str, Any]
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def task(self) -> HarnessTask:
        """Return the task, or raise RefusedTask."""
        row = self.row
        if "group" in row or isinstance(row.get("task"), list):
            raise RefusedTask(str(self.path), ["it is a group: import its tasks one by one"])
        if "class" in row:
            raise RefusedTask(str(self.path), ["the task is a Python class, which is never run"])
        if not isinstance(row.get("task"), str):
            raise RefusedTask(
                str(self.path), ["it names no task: it is a part that others include"]
            )
        self.reasons += _python({k: v for k, v in row.items() if k not in CHOSEN_FROM}, "")
        kind = row.get("output_type", "generate_until")
        if kind != "generate_until":
            why = WHY_NOT.get(str(kind), "is not known")
            self.reasons.append(f"output_type {kind} {why}; only generate_until is sampled")
        for key, what in (
            ("use_prompt", "takes its prompt from promptsource"),
            ("doc_to_image", "shows images"),
            ("doc_to_audio", "plays sounds"),
            ("gen_prefix", "begins the model's answer for it (gen_prefix)"),
            ("process_results", "scores by code of its own (process_results)"),
            ("custom_dataset", "makes its data by code (custom_dataset)"),
        ):
            value = row.get(key)
            if value and not isinstance(value, Code):
                self.reasons.append(what)
        comparing = self.comparing()
        filters = self.filters(comparing)
        sampling = self.sampling()
        shots = self.shots()
        repeats = self.number("repeats", row.get("repeats") or 1, 1, MAX_SAMPLES)
        data_files = self.data_files()
        split = row.get("test_split") or row.get("validation_split")
        if not split:
            self.reasons.append("it names neither test_split nor validation_split")
        for key in ("doc_to_text", "doc_to_target"):
            value = row.get(key)
            if not isinstance(value, str) and not (key == "doc_to_target" and _plain(value)):
                self.reasons.append(f"{key} is no text")
        if self.reasons:
            raise RefusedTask(str(row["task"]), list(dict.fromkeys(self.reasons)))
        metadata = row.get("metadata")
        version = metadata.get("version") if isinstance(metadata, dict) else None
        name = [str(row[k]) for k in ("dataset_path", "dataset_name") if row.get(k)]
        return HarnessTask(
            name=row["task"],
            dataset=" ".join(name),
            data_files=data_files,
            split=str(split),
            text=row["doc_to_text"],
            target=row["doc_to_target"],
            choices=row.get("doc_to_choice"),
            description=str(row.get("description") or ""),
            shots=shots,
            repeats=int(repeats),
            filters=filters,
            comparing=comparing,
            base=self.path.parent,
            notes=tuple(self.notes),
            version=None if version is None else str(version),
            **sampling,
        )

    def comparing(self) -> dict[str, Any]:
        """Return what exact_match ignores. It is the metric of a task that lists none, and the last of that name counts."""
        listed = self.row.get("metric_list")
        listed = [{"metric": EXACT}] if listed is None else listed
        rows = [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
        exact = [m for m in rows if m.get("metric") == EXACT and not isinstance(m["metric"], Code)]
        if not exact:
            said = ", ".join(_name(m.get("metric")) for m in rows) or "none is named"
            self.reasons.append(f"its metric is not {EXACT} ({said})")
            return {}
        metric = exact[-1]
        others = [m.get("metric") for m in rows if m not in exact]
        if others:
            self.notes.append(f"left out: metrics {', '.join(map(_name, others))}")
        if named := [m for m in others if isinstance(m, Code) and m.rpartition(".")[2] == EXACT]:
            self.reasons.append(f"{EXACT} is {_name(named[0])}, which is never run")
        self.reasons += _python(metric, "metric_list")
        if metric.get("aggregation", "mean") != "mean" and not isinstance(
            metric.get("aggregation"), Code
        ):
            self.reasons.append(f"aggregation {metric['aggregation']} is not the mean")
        if unknown := [k for k in metric if k not in (*IGNORING, *NEUTRAL)]:
            self.reasons.append(f"exact_match has unknown options: {', '.join(map(str, unknown))}")
        found = {k: metric[k] for k in IGNORING if metric.get(k)}
        for key in (k for k in FLAGS if isinstance(found.get(k), str)):
            self.notes.append(f"{key} is the text {found[key]!r}, which counts as true, as there")
            found[key] = True
        try:
            read({"answer": "", **found})
        except TaskError as error:
            self.reasons.append(f"exact_match: {error}")
        return found

    def filters(self, comparing: Mapping[str, Any]) -> dict[str, tuple[Mapping[str, Any], ...]]:
        """Return the pipelines that are understood; a reason where none is."""
        listed = self.row.get("filter_list")
        if not listed:
            return {"none": ()}
        found: dict[str, tuple[Mapping[str, Any], ...]] = {}
        wrong: list[str] = []
        for row in listed if isinstance(listed, list) else []:
            name = str(row.get("name")) if isinstance(row, dict) else ""
            steps = row.get("filter") if isinstance(row, dict) else None
            if not isinstance(steps, list) or not all(isinstance(s, dict) for s in steps):
                wrong.append(f"filter {name} is no list of functions")
                continue
            kept = [s for s in steps if s.get("function") != ONE_ANSWER]
            if any(s.get("function") == ONE_ANSWER for s in steps[:-1]):
                wrong.append(
                    f"filter {name} has functions after {ONE_ANSWER}, which there read single characters"
                )
                continue
            if coded := _python(kept, f"filter {name}"):
                wrong += coded
                continue
            taken = [str(s.get("function")) for s in kept]
            unknown = [function for function in taken if function not in OPTIONS]
            if unknown:
                wrong.append(f"filter {name} takes {', '.join(unknown)}")
                continue
            try:
                read({"answer": "", "filters": kept})
            except TaskError as error:
                wrong.append(f"filter {name}: {error}")
                continue
            found[name] = tuple(kept)
        if found:
            self.notes += [f"left out: {line}" for line in wrong]
        else:
            self.reasons += wrong or ["filter_list holds no filter"]
        return found

    def sampling(self) -> dict[str, Any]:
        """Return until, max_tokens, temperature and top_p."""
        asked = self.row.get("generation_kwargs")
        delimiter = self.row.get("fewshot_delimiter", "\n\n")
        asked = dict(asked) if isinstance(asked, dict) else {"do_sample": False}
        until = asked.pop("until", [delimiter])
        until = [until] if isinstance(until, str) else (until or [])
        limits = [asked.pop(k, None) for k in ("max_gen_toks", "max_new_tokens", "max_tokens")]
        sampled = asked.pop("do_sample", None)
        tokens = next((v for v in limits if v is not None), MAX_TOKENS)
        warmth = asked.pop("temperature", 1.0 if sampled else 0.0)
        temperature = self.number("temperature", warmth, 0, HOTTEST)
        found: dict[str, Any] = {
            "max_tokens": int(self.number("max_gen_toks", tokens, 1, LONGEST)),
            "temperature": 0.0 if sampled is False else temperature,
            "top_p": self.number("top_p", asked.pop("top_p", 1.0), 0, 1) or 1.0,
        }
        if not isinstance(until, list) or not all(isinstance(t, str) for t in until):
            self.reasons.append("generation_kwargs.until is no list of texts")
            until = []
        neutral = {"num_beams": 1, "top_k": 0, "repetition_penalty": 1.0, "num_return_sequences": 1}
        odd = [k for k, v in asked.items() if k not in neutral or v != neutral[k]]
        if odd:
            self.reasons.append(f"generation_kwargs is not understood: {', '.join(map(str, odd))}")
        return {**found, "until": tuple(until)}

    def number(self, key: str, value: Any, least: float, most: float) -> float:
        """Return a number from ``least`` to ``most``; a reason where it is none (as it is written, or in a text)."""
        try:
            found = float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if least <= found <= most:
            return found
        self.reasons.append(f"{key} is {str(value)[:40]}, no number from {least:g} to {most:,}")
        return least

    def shots(self) -> Shots:
        """Return how examples are shown."""
        row = self.row
        asked = row.get("fewshot_config")
        asked = asked if isinstance(asked, dict) else {}
        count = row.get("num_fewshot") or 0
        usual = Shots(
            text=row.get("doc_to_text") or "",
            target=row.get("doc_to_target") or "",
            choices=row.get("doc_to_choice"),
            target_delimiter=str(row.get("target_delimiter", " ")),
            delimiter=str(row.get("fewshot_delimiter", "\n\n")),
        )
        if not count:
            return usual
        samples, sampler = asked.get("samples"), asked.get("sampler", "default")
        split = named = asked.get("split", row.get("fewshot_split"))
        if split is None and samples is None:
            split = row.get("training_split") or row.get("validation_split")
        if not isinstance(count, int) or count < 0:
            self.reasons.append("num_fewshot is no number")
        if sampler not in SAMPLERS and not isinstance(sampler, Code):
            self.reasons.append(f"sampler {sampler} of examples is not known")
        if asked.get("gen_prefix"):
            self.reasons.append("examples begin with a gen_prefix")
        if split is None and not isinstance(samples, list) and not isinstance(samples, Code):
            self.reasons.append("it shows examples and says not from where")
        own = samples if isinstance(samples, list) and split is None else None
        if asked.get("fewshot_indices"):
            self.notes.append("fewshot_indices is not applied, as in lm-evaluation-harness")
        return Shots(
            count=count,
            split=split,
            samples=None if own is None else tuple(d for d in own if isinstance(d, dict)),
            sampler=str(sampler),
            beside=named == row.get("test_split"),
            text=asked.get("doc_to_text") or usual.text,
            target=asked.get("doc_to_target") or usual.target,
            choices=asked.get("doc_to_choice") or usual.choices,
            target_delimiter=str(asked.get("target_delimiter", usual.target_delimiter)),
            delimiter=str(asked.get("fewshot_delimiter", usual.delimiter)),
        )

    def data_files(self) -> dict[str, tuple[str, ...]]:
        """Return the local files of each split that ``dataset_kwargs`` names."""
        asked = self.row.get("dataset_kwargs")
        files = asked.get("data_files") if isinstance(asked, dict) else None
        if isinstance(files, str | list):
            files = {"train": files}  # as the datasets library names a lone file
        if not isinstance(files, dict):
            return {}
        found = {
            str(split): tuple(map(str, [v] if isinstance(v, str) else v))
            for split, v in files.items()
            if isinstance(v, str | list)
        }
        base = self.path.parent.resolve()
        for name in (name for names in found.values() for name in names):
            if "://" not in name and not (base / name).resolve().is_relative_to(base):
                self.reasons.append(f"data_files names {name}, outside its folder: give --data")
        return found


def _name(value: Any) -> str:
    """Return how a metric is called, for people."""
    return f"Python (!function {value})" if isinstance(value, Code) else str(value)


def _python(value: Any, place: str) -> list[str]:
    """Return a reason for every ``!function`` in ``value``."""
    if isinstance(value, Code):
        return [f"{place} is Python (!function {value}), which is never run"]
    if isinstance(value, dict):
        inner = [(f"{place}.{key}" if place else str(key), v) for key, v in value.items()]
    elif isinstance(value, list):
        inner = [(place, v) for v in value]
    else:
        return []
    return [reason for where, v in inner for reason in _python(v, where)]


def _plain(value: Any) -> bool:
    return isinstance(value, int | list) and not isinstance(value, bool)
