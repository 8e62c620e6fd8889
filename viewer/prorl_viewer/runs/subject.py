"""Shows a run on the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from prorl_common import UserError
from prorl_common.rollout_files import rollout_files
from prorl_training.config.loading import check_config
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.simulate import rules_at
from prorl_viewer.rollouts.pages import Rollouts
from prorl_viewer.runs import around, curves, decisions
from prorl_viewer.runs.decisions import ForecastCache
from prorl_viewer.runs.header import header, read_plain, settings, summary
from prorl_viewer.runs.journal import Decisions, Metrics, Sums, TaskTable
from prorl_viewer.subject import Json, Kind, NotFoundError, Page, Query, Subject, choice, integer

READING = 0.5
"""Maximum time in seconds that a request reads rollouts; later requests continue."""
MOST_ANSWERS = 200
EXPORTED_STEPS = 40
"""Maximum number of steps whose decisions are exported, in addition to falls of the reward."""


class RunSubject:
    """One run; pages are cached until the run changes."""

    kind: Kind = "run"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folders = (path,)
        self.name = path.name
        self.run = RunFolder(path)
        self._lock = threading.RLock()
        self._metrics = Metrics(self.run.metrics_path)
        self._decisions = Decisions(self.run.decisions_path)
        self._tasks = TaskTable(path)
        self._forecasts = ForecastCache(self.run)
        self._rollouts = Rollouts(path)
        self._kept: dict[tuple[str, tuple[tuple[str, str], ...]], Json] = {}
        self._kept_version = ""

    def version(self) -> str:
        return f"{self._state()}-{self._rollouts.version()}"

    def _state(self) -> str:
        ended = self.run.ended_path.exists()
        sizes = f"{self._metrics.tail.size()}.{self._decisions.tail.size()}"
        return f"{sizes}.{int(self.run.is_written())}{int(ended)}.{self._metrics.rewritten}"

    def pages(self) -> Mapping[str, Page]:
        pages = {
            "summary": self._summary,
            "header": self._header,
            "charts": self._charts,
            "curves": self._curves,
            "decisions": self._overview,
            "decision": self._decision,
            "around": self._around,
        }
        cached = {name: self._fresh(name, page) for name, page in pages.items()}
        slow = {"rules": self._rules, "config": self._config, "forecast": self._forecast}
        return {**cached, **slow, **self._rollouts.pages()}

    def actions(self) -> Mapping[str, Page]:
        return self._rollouts.actions()

    def close(self) -> None:
        self._rollouts.close()

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        pages = self.pages()
        for page in ("summary", "header", "charts", "decisions", "config"):
            yield page, {}
        for chart in pages["charts"]({})["charts"]:
            for by in ("overall", *(b for b in chart["by"] if b == "domain")):
                yield "curves", {"chart": chart["name"], "by": by}
        marked = [mark["step"] for mark in pages["decisions"]({})["marks"]]
        fallen = [fall["step"] for fall in pages["header"]({})["falls"]]
        for step in dict.fromkeys([*fallen, *marked[-EXPORTED_STEPS:]]):
            yield "decision", {"step": str(step)}
            yield "around", {"step": str(step)}
        yield from self._rollouts.snapshot()

    def _fresh(self, name: str, page: Page) -> Page:
        def answer(query: Query) -> Json:
            if not self.run.config_path.exists() and not self.run.metrics_path.exists():
                raise NotFoundError(f"{self.path} is no longer a run's folder")
            with self._lock:
                version, question = self._state(), (name, tuple(sorted(query.items())))
                self._metrics.refresh()
                self._decisions.refresh()
                if version != self._kept_version or len(self._kept) > MOST_ANSWERS:
                    self._kept_version, self._kept = version, {}
                if question not in self._kept:
                    content = page(query)
                    if content.get("unread"):
                        return content
                    self._kept[question] = content
                return self._kept[question]

        return answer

    def _summary(self, query: Query) -> Json:
        del query
        return summary(header(self.run, self._metrics, self._decisions.rows), self._metrics)

    def _header(self, query: Query) -> Json:
        del query
        metrics = self._metrics
        return {
            **header(self.run, metrics, self._decisions.rows),
            "falls": around.falls(metrics),
            "axes": curves.axes(metrics),
        }

    def _charts(self, query: Query) -> Json:
        del query
        return curves.catalogue(self._metrics, bool(rollout_files(self.path)))

    def _curves(self, query: Query) -> Json:
        metrics = self._metrics
        chart = curves.find_chart(metrics, query.get("chart", "reward_mean"))
        span = (integer(query, "from", 0), integer(query, "to", 1 << 62))
        tasks: Mapping[int, Mapping[str, Sums]] = {}
        by, unread = choice(query, "by", ("overall", "domain", "task"), "overall"), 0
        from_journal = chart.part_key in metrics.keys_of_parts("tasks")
        if by == "task" and not from_journal:
            tasks, unread = self._tasks.read(budget=READING)
        steps = sum(span[0] <= step <= span[1] for step in tasks or metrics.steps)
        mean = max(integer(query, "mean", curves.smoothing(chart, steps)), 1)
        head = {"chart": chart.name, "mean": mean, "unread": unread}
        chosen = [name for name in query.get("parts", "").split(",") if name]
        match by:
            case "overall":
                return head | {"lines": curves.overall(metrics, chart, mean, span)}
            case "domain":
                return head | curves.by_part(metrics, "domains", chart, mean, span, chosen)
            case "task" if from_journal:
                return head | curves.by_part(metrics, "tasks", chart, mean, span, chosen)
            case "task":
                return head | curves.by_task_of_rollouts(tasks, chart, mean, span, chosen)
            case _:
                raise AssertionError(by)

    def _overview(self, query: Query) -> Json:
        del query
        last = self._metrics.steps[-1] if self._metrics.steps else 1
        return decisions.overview(self._decisions.rows, last)

    def _decision(self, query: Query) -> Json:
        step = self._recorded(query, least=0)
        return {"step": step, "decisions": decisions.at_step(self._decisions.rows, step)}

    def _rules(self, query: Query) -> Json:
        with self._lock:
            self._metrics.refresh()
            step = self._recorded(query, least=1)
        try:
            config = check_config(read_plain(self.run.config_path))
        except UserError as error:  # a plug-in's part, as the viewer loads no plug-ins
            return {"step": step, "seen": [], "trouble": str(error)}
        rows = {int(row["step"]): row for row in self.run.metrics()}
        return {"step": step, "seen": decisions.evidence(rules_at(config, rows, step))}

    def _around(self, query: Query) -> Json:
        metrics, step = self._metrics, self._recorded(query, least=1)
        width = integer(query, "width", around.STEPS)
        if width < 1:
            raise UserError("width must be a number of steps, at least 1")
        spans = around.spans_at(metrics.steps, step, width)
        near = range(spans.before[0], spans.after[1] + 1)
        tasks, unread = self._tasks.read(near, READING)
        domains = [around.journal_parts(metrics, "domains", span) for span in spans]
        by_task = [around.task_parts(tasks, span) for span in spans]
        if not all(by_task):
            # if one span has no rollouts, the metrics file has fewer facts about tasks, but has every step
            by_task = [around.journal_parts(metrics, "tasks", span) for span in spans]
        last = metrics.steps[-1]
        return {
            "step": step,
            "before": spans.before,
            "after": spans.after,
            "movers": around.movers(metrics, spans),
            "domains": around.split_change(*domains),
            "tasks": around.split_change(*by_task),
            "unread": unread,
            "rollouts": sorted(tasks),
            "decisions": [
                d
                for d in decisions.overview(self._decisions.rows, last)["list"]
                if d["step"] <= near[-1] and d.get("to", d["step"]) >= near[0]
            ],
        }

    def _config(self, query: Query) -> Json:
        del query
        return settings(self.run)

    def _forecast(self, query: Query) -> Json:
        del query
        with self._lock:
            self._metrics.refresh()
            newest = self._metrics.newest("validation_reward")
            last = self._metrics.steps[-1] if self._metrics.steps else 0
        return None if newest is None else self._forecasts.forecast(last, newest[0])

    def _recorded(self, query: Query, least: int) -> int:
        step, steps = integer(query, "step", -1), self._metrics.steps
        last = steps[-1] if steps else 0
        if not least <= step <= last:
            raise NotFoundError(
                f"step {step} was not recorded: the steps of {self.name} are {least} to {last}"
            )
        return step


def looks_like(folder: Path) -> bool:
    """Return whether ``folder`` is a run, possibly an old one without ``identity.json``."""
    beside = ("identity.json", "metrics.jsonl")
    return (folder / "config.yaml").is_file() and any((folder / n).is_file() for n in beside)


def open_subjects(folders: Sequence[Path]) -> list[Subject]:
    return [RunSubject(folder) for folder in folders]
