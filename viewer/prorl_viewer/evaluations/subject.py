"""Shows an evaluation on the page."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from prorl_common import nearest
from prorl_evaluation.compare import baseline_place
from prorl_evaluation.report.data import ReportData, ReportOptions, report_data
from prorl_evaluation.sampling.job import EVAL_FILE
from prorl_evaluation.types import RESULT_FILE, EvalResult, EvaluationError
from prorl_viewer.checking import Checker
from prorl_viewer.evaluations import comparison
from prorl_viewer.evaluations.models import Group, Model, group, make_labels_unique
from prorl_viewer.evaluations.problems import (
    Row,
    matrix,
    problem_page,
    recorded,
    rows_of,
    sample_page,
    samples_page,
    search,
)
from prorl_viewer.subject import Json, Kind, NotFoundError, Page, Query, integer

T = TypeVar("T")
MOST_RESULTS = 12
PATIENCE = 0.25
"""Time in seconds that a request waits for a result."""


class OnDemand:
    """Computes results in the background and caches them by key; ``done`` counts the computed ones."""

    def __init__(self) -> None:
        self.done = 0
        self._futures: dict[Hashable, Future[object]] = {}
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def get(
        self, key: Hashable, work: Callable[[], T], patience: float | None = PATIENCE
    ) -> T | None:
        """Return the result of ``work``, or None if it takes longer than ``patience`` seconds (None: no limit).

        Raises the error of ``work``.
        """
        with self._lock:
            future = self._futures.get(key)
            if future is None:
                future = self._futures[key] = Future()
                for old in list(self._futures)[:-MOST_RESULTS]:
                    del self._futures[old]
                # a daemon thread, so that Ctrl-C does not wait for a bootstrap
                threading.Thread(target=self._do, args=(future, work), daemon=True).start()
        try:
            return future.result(patience)  # type: ignore[return-value]
        except TimeoutError:
            return None

    def _do(self, future: Future[object], work: Callable[[], object]) -> None:
        with self._one_at_a_time:
            try:
                outcome = work()
            except BaseException as error:  # noqa: BLE001 - raised again to whoever asks
                future.set_exception(error)
            else:
                future.set_result(outcome)
        self.done += 1


COMPUTING: Json = {"state": "computing"}
EXPORTED_PROBLEMS = 40
"""Maximum number of problems whose answers are exported; gained and lost problems come first."""
EXPORTED_SAMPLES = 8
"""Maximum number of exported answers per problem and model."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    models: tuple[Model, ...]
    base: int
    by_query: bool
    benchmarks: tuple[str, ...]
    unfinished: tuple[str, ...]

    @property
    def keys(self) -> list[str]:
        return [m.key for m in self.models]

    def results(self) -> list[EvalResult]:
        return [m.result(self.benchmarks) for m in self.models]


class EvaluationSubject:
    """Results of models on the same problems; the first model that a query names is the baseline."""

    kind: Kind = "evaluation"

    def __init__(self, group: Group, options: ReportOptions | None = None) -> None:
        self._options = options or ReportOptions()
        self.name = group.name
        self.path = group.path
        self.folders = [part.folder for m in group.models for part in m.parts.values()]
        self._models = group.models
        self._lock = threading.Lock()
        self._read_state: Hashable = None
        self._rows: dict[str, Row] = {}
        self._slow = OnDemand()
        self._checker = Checker()

    def version(self) -> str:
        state = (self._state(), self._slow.done)
        return hashlib.blake2b(repr(state).encode(), digest_size=8).hexdigest()

    def pages(self) -> Mapping[str, Page]:
        return {
            "summary": self._summary,
            "matrix": self._matrix,
            "search": self._search,
            "curves": self._curves,
            "claims": self._claims,
            "solvable": self._solvable,
            "settings": self._settings,
            "problem": self._problem,
            "samples": self._samples,
            "sample": self._sample,
        }

    def actions(self) -> Mapping[str, Page]:
        return {"check": self._check}

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        rows = self._current_rows()
        yield from (("summary", {}), ("matrix", {}), ("settings", {}))
        changed: list[str] = []
        if any(m.finished for m in self._models):
            data = self._report(self._choose({}), patience=None)
            assert data is not None  # ``patience=None`` waits for the report
            yield "claims", {}
            for group in data.groups:
                yield "curves", {"group": comparison.name_of(group)}
            if data.boundary is not None:
                yield "solvable", {}
                for s in data.boundary.solvable:
                    changed += [*s.gained_shown, *s.lost_shown, *s.gained, *s.lost]
        for problem in list(dict.fromkeys([*changed, *rows]))[:EXPORTED_PROBLEMS]:
            yield "problem", {"problem": problem}
            for model in (m for m in self._models if m.has(problem)):
                query = {"problem": problem, "model": model.key}
                yield "samples", query
                for answer in model.answers(problem, range(EXPORTED_SAMPLES)):
                    yield "sample", {**query, "index": str(answer.index)}

    def prepare(self) -> None:
        self._report(self._choose({}), patience=None)

    def close(self) -> None:
        self._checker.close()

    def _state(self) -> Hashable:
        return tuple(m.state() for m in self._models)

    def _current_rows(self) -> Mapping[str, Row]:
        with self._lock:
            state = self._state()
            if state != self._read_state:
                for model in self._models:
                    model.refresh()
                make_labels_unique(self._models)
                self._rows, self._read_state = rows_of(self._models), state
            return self._rows

    def _summary(self, query: Query) -> Json:
        rows = self._current_rows()
        done, total = (sum(m.progress[at] for m in self._models) for at in (0, 1))
        named = (str(row.first.labels.get("benchmark", "")) for row in rows.values())
        return {
            "problems": len(rows),
            "models": len(self._models),
            "baseline": self._baseline(),
            "answers": done if done == total else f"{done:,} of {total:,} judged",
            "path": str(self.path),
            "domains": list(dict.fromkeys(row.first.domain for row in rows.values())),
            "benchmarks": [name for name in dict.fromkeys(named) if name],
            "each": [_about(model) for model in self._models],
        }

    def _matrix(self, query: Query) -> Json:
        return matrix(self._models, self._current_rows())

    def _search(self, query: Query) -> Json:
        return search(self._current_rows(), query.get("q", ""))

    def _curves(self, query: Query) -> Json:
        chosen, group = self._choose(query), query.get("group") or "overall:overall"
        if (data := self._report(chosen)) is None:
            return COMPUTING
        page = comparison.curves(data, chosen.keys, group)
        return {"state": "ready", "unfinished": list(chosen.unfinished), **page}

    def _claims(self, query: Query) -> Json:
        chosen = self._choose(query)
        if (data := self._report(chosen)) is None:
            return COMPUTING
        page = comparison.claims(data)
        return {"state": "ready", "unfinished": list(chosen.unfinished), **page}

    def _solvable(self, query: Query) -> Json:
        chosen = self._choose(query)
        key = ("solvable", self._read_state, *chosen.keys)
        page = self._slow.get(key, lambda: comparison.solvable(chosen.results()[chosen.base :]))
        return COMPUTING if page is None else {"state": "ready", **page}

    def _settings(self, query: Query) -> Json:
        self._current_rows()
        # all benchmarks of a suite have the same sampling, so any result can be used
        results = [next(iter(m.results().values()), None) for m in self._models]
        return (
            comparison.settings([r for r in results if r is not None])
            if any(results)
            else {"facts": []}
        )

    def _problem(self, query: Query) -> Json:
        return problem_page(self._models, self._row(query))

    def _samples(self, query: Query) -> Json:
        row = self._row(query)
        return samples_page(self._model(query), row.name, query)

    def _sample(self, query: Query) -> Json:
        row = self._row(query)
        return sample_page(self._model(query), row.name, integer(query, "index", 0))

    def _check(self, query: Query) -> Json:
        row = self._row(query)
        return self._checker.check(
            recorded(self._model(query), row.name, integer(query, "index", 0))
        )

    def _row(self, query: Query) -> Row:
        rows, name = self._current_rows(), query.get("problem", "")
        if name not in rows:
            raise NotFoundError(f"there is no problem '{name}'{nearest(name, list(rows))}")
        return rows[name]

    def _model(self, query: Query) -> Model:
        return self._by_key(query.get("model") or self._models[0].key)

    def _by_key(self, key: str) -> Model:
        model = next((m for m in self._models if m.key == key), None)
        if model is None:
            keys = [m.key for m in self._models]
            raise NotFoundError(
                f"there is no model '{key}'{nearest(key, keys)}; the models are {', '.join(keys)}"
            )
        return model

    def _choose(self, query: Query) -> _Chosen:
        self._current_rows()
        keys = [key for key in query.get("models", "").split(",") if key]
        models = [self._by_key(key) for key in dict.fromkeys(keys)] or list(self._models)
        done = [m for m in models if m.results()]
        if not done:
            raise EvaluationError(
                "no result yet: intervals and claims appear when an evaluation is finished"
            )
        shared = [b for b in done[0].results() if all(b in m.results() for m in done)]
        if not shared:
            raise EvaluationError(
                "the chosen models have no finished benchmark in common: choose other models"
            )
        base = 0 if keys else self._base(done)
        unfinished = tuple(m.label for m in models if not m.finished)
        return _Chosen(tuple(done), base, bool(keys), tuple(shared), unfinished)

    def _base(self, models: Sequence[Model]) -> int:
        return 0 if self._options.baseline_first else baseline_place([m.label for m in models])

    def _baseline(self) -> str:
        models = [m for m in self._models if m.results()] or self._models
        return models[self._base(models)].label

    def _report(self, chosen: _Chosen, patience: float | None = PATIENCE) -> ReportData | None:
        key = ("report", self._read_state, chosen.by_query, *chosen.keys)
        options = replace(
            self._options, baseline_first=chosen.by_query or self._options.baseline_first
        )
        return self._slow.get(key, lambda: report_data(chosen.results(), None, options), patience)


def _about(model: Model) -> Json:
    done, total = model.progress
    results = model.results()
    first = next(iter(results.values()), None)
    unreadable = sum(part.unreadable for part in model.parts.values())
    return {
        "key": model.key,
        "label": model.label,
        "finished": model.finished,
        "done": done,
        "total": total,
        "problems": len(model.problems),
        "n": first.settings.n if first is not None else model.one.n,
        "unreadable_lines": unreadable,
        "scores": [s for name, r in results.items() for s in _scores(name, r)],
    }


def _scores(benchmark: str, result: EvalResult) -> Sequence[Json]:
    groups = result.groups[:1] if benchmark or len(result.groups) == 2 else result.groups
    return [
        {
            "group": benchmark or g.name,
            "problems": g.problems,
            "metrics": {
                name: comparison.interval(i)
                for name in dict.fromkeys(["pass@1", f"pass@{result.settings.k}", "reward"])
                if (i := g.metric(name)) is not None
            },
            "fixed": {f"pass@{k}": comparison.interval(i) for k, i in g.fixed_pass_at_k.items()},
            "length": comparison.interval(g.length),
            "cut": g.truncation_rate,
            "unparsable": g.unparsable_rate,
        }
        for g in groups
    ]


def looks_like(folder: Path) -> bool:
    return (folder / EVAL_FILE).is_file() or (folder / RESULT_FILE).is_file()


def open_subjects(folders: Sequence[Path], named: Sequence[Path] = ()) -> list[EvaluationSubject]:
    """Return the evaluations in ``folders``; several that are also in ``named`` form one, baseline first."""
    return [EvaluationSubject(models) for models in group(folders, named)]
