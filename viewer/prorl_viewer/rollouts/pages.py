"""Returns a run's rollouts as JSON pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from prorl_common import Closing, UserError
from prorl_common.rollout_files import rollout_file
from prorl_evaluation.types import FULL_MARKS
from prorl_viewer.answering import message
from prorl_viewer.checking import Checker, test_case
from prorl_viewer.rollouts.index import Index, IndexState
from prorl_viewer.rollouts.prompts import find_prompt, messages_of, tokens_of
from prorl_viewer.rollouts.segment import (
    COLUMNS_OF_TOKENS,
    LONGEST_WORD,
    WORDS,
    read_group,
    read_row,
)
from prorl_viewer.rollouts.table import Filter, Numbers, RowQuery, Rows, Searches, Table, read_query
from prorl_viewer.subject import Json, NotFoundError, Page, Private, Query, integer, private

PRIVATE = ("prompt", "response", "reference", "reason", "extracted", "metrics", "level", "turns")
"""Columns with text from models and datasets."""
HEAD = 160
"""Number of characters shown of a response in lists."""
LOOKED_AT = 1 << 20
"""Number of bytes of a text that are searched for the match to show."""
WHOLE = 100_000
"""Number of characters shown of a response on a group's page."""
FIRST_ANSWER = 0.5
"""Time in seconds that a request waits for enough rows."""
IN_FILE = 400
"""Maximum number of exported rollouts, newest first."""
TOKENS_IN_FILE = 200_000
"""Maximum number of exported tokens with log-probabilities."""
READ_ALL = 600.0
"""Time in seconds that an export waits until all rollouts are read."""
PER_PROMPT = 2000
"""Maximum number of responses on a prompt's page, newest first."""


class Rollouts(Closing):
    """Pages and actions for a run's rollouts; thread-safe."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._index = Index(run)
        self._searches = Searches()
        self._checker = Checker()

    def version(self) -> str:
        return self._index.version()

    def pages(self) -> Mapping[str, Page]:
        return {
            "rollouts": self.listed,
            "groups": self.groups,
            "rollout": self.one,
            "tokens": self.tokens,
            "group": self.group,
            "prompt": self.prompt,
            "testcase": self.testcase,
        }

    def actions(self) -> Mapping[str, Page]:
        return {"check": self.check}

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield (page name, query) for the newest rollouts, and for their groups and prompts."""
        table = self._index.state(wait=READ_ALL, rows=1 << 62).table
        yield "rollouts", {"limit": str(IN_FILE)}
        yield "groups", {"limit": str(IN_FILE)}
        groups, tokens = set(), 0
        for row in table.select(Filter(flags={"carried": False}))[:IN_FILE].tolist():
            facts = table.facts(row)
            where = {"step": str(facts["step"]), "row": str(facts["row"])}
            yield "rollout", where
            yield "testcase", where
            tokens += facts["tokens"] or 0
            if tokens <= TOKENS_IN_FILE:
                yield "tokens", where
            groups.add((str(facts["step"]), facts["sample_id"] or ""))
        for step, sample in sorted(groups):
            yield "group", {"step": step, "sample": sample}
        for sample in sorted({sample for _, sample in groups}):
            yield "prompt", {"sample": sample}

    def close(self) -> None:
        self._index.close()
        self._searches.close()
        self._checker.close()

    def listed(self, query: Query) -> Json:
        """Return the rows that match the query (see ``read_query``), and their number.

        While "complete" is false, there may be more.
        """
        return self._listed(query, lambda table, rows: rows, self._line)

    def groups(self, query: Query) -> Json:
        """Return the groups (responses to a prompt in a step) with a matching response, and their rewards."""
        return self._listed({**query, "sort": "step"}, Table.first_of_groups, self._group_line)

    def _listed(
        self,
        query: Query,
        reduce: Callable[[Table, Rows], Rows],
        line: Callable[[Table, int, str], Json],
    ) -> Json:
        request = read_query(query)
        state = self._index.state(request.offset + request.limit, FIRST_ANSWER)
        table = state.table
        rows, searched = self._select(table, request)
        rows = reduce(table, rows)
        of = int((~table.flags["carried"]).sum())
        visible = rows[request.offset : request.offset + request.limit].tolist()
        return {
            "rows": [line(table, row, request.text) for row in visible],
            "offset": request.offset,
            "total": len(rows),
            "of": of,
            "complete": state.complete and searched == table.rows,
            "searched": searched,
            **_progress(state),
            "values": {name: table.counts(name) for name in WORDS if name != "sample_id"},
        }

    def one(self, query: Query) -> Json:
        step, number = integer(query, "step", -1), integer(query, "row", -1)
        row = self._row(step, number, without=COLUMNS_OF_TOKENS)
        table = self._index.state(1, FIRST_ANSWER).table
        same = Filter({"step": (step, step)}, {"sample_id": [row["sample_id"] or ""]})
        group = [int(table.numbers["row"][at]) for at in table.select(same)]
        return {
            **{k: private(v) if k in PRIVATE else _cut(v) for k, v in row.items()},
            "row": number,
            "prompt": find_prompt(self.run, row).to_json(),
            "turns": [message(*turn) for turn in messages_of(row["turns"] or "[]")],
            "group": group,
            "trained_in": self._trained_in(table, row),
        }

    def tokens(self, query: Query) -> Json:
        columns = ("response", "advantage", *COLUMNS_OF_TOKENS)
        step, number = integer(query, "step", -1), integer(query, "row", -1)
        return tokens_of(self.run, self._row(step, number, columns))

    def group(self, query: Query) -> Json:
        step, sample = integer(query, "step", -1), query.get("sample", "")
        rows = read_group(rollout_file(self.run, step), sample)
        first, listed = rows[0], []
        for row in rows:
            texts = {name: private(row[name]) for name in ("reason", "extracted")}
            response = Private((row["response"] or "")[:WHOLE])
            plain = {k: _cut(v) for k, v in row.items() if k not in PRIVATE}
            listed.append({**plain, **texts, "response": response})
        table = self._index.state(1 << 62, FIRST_ANSWER).table
        same_prompt = Filter(words={"sample_id": [sample]}, flags={"carried": False})
        steps = _steps(table, table.select(same_prompt))
        rewards, tokens = (
            np.array([row[name] for row in rows], float) for name in ("reward", "tokens")
        )
        cut = sum(row["finish_reason"] == "length" for row in rows)
        return {
            "step": step,
            "sample_id": sample,
            "prompt": find_prompt(self.run, first).to_json(),
            "reference": private(first["reference"]),
            "rows": listed,
            "steps": steps,
            **_means(rewards, tokens, cut, sum(bool(row["kept"]) for row in rows)),
        }

    def prompt(self, query: Query) -> Json:
        """Return one prompt with its responses, and its rates by step."""
        sample = query.get("sample", "")
        state = self._index.state(1 << 62, FIRST_ANSWER)
        table = state.table
        same_prompt = Filter(words={"sample_id": [sample]}, flags={"carried": False})
        rows = table.select(same_prompt)
        if not len(rows):
            raise self._absent(f"the run has no responses to '{sample}'")
        newest = table.facts(int(rows[0]))
        row = self._row(
            newest["step"], newest["row"], ("prompt", "sample_id", "verifier", "reference")
        )
        steps = []
        for step in _steps(table, rows):
            of_step = rows[table.numbers["step"][rows] == step]
            rewards, tokens = (table.numbers[name][of_step] for name in ("reward", "tokens"))
            cut = sum(table.word("finish_reason", row) == "length" for row in of_step.tolist())
            used = int(table.flags["kept"][of_step].sum())
            steps.append({"step": step, **_means(rewards, tokens, cut, used)})
        return {
            "sample_id": sample,
            "prompt": find_prompt(self.run, row).to_json(),
            "reference": Private(row["reference"] or ""),
            "steps": steps,
            "rows": [self._line(table, at, "") for at in rows[:PER_PROMPT].tolist()],
            "total": len(rows),
            **_progress(state),
        }

    def testcase(self, query: Query) -> Json:
        step, number = integer(query, "step", -1), integer(query, "row", -1)
        return {"line": Private(test_case(self._row(step, number, without=COLUMNS_OF_TOKENS)))}

    def check(self, query: Query) -> Json:
        step, number = integer(query, "step", -1), integer(query, "row", -1)
        return self._checker.check(self._row(step, number, without=COLUMNS_OF_TOKENS))

    def _select(self, table: Table, request: RowQuery) -> tuple[Rows, int]:
        hits, searched = None, table.rows
        if request.text:
            hits, searched = self._searches.hits(request.text, table.segments)
        rows = table.select(request.filter, hits)
        if (request.sort, request.down) != ("step", True):
            rows = table.sorted(rows, request.sort, request.down)
        return rows, searched

    def _line(self, table: Table, row: int, text: str) -> Json:
        facts = table.facts(row)
        if text and text.casefold() not in (facts["sample_id"] or "").casefold():
            for where in ("response", "prompt"):
                whole = table.text(where, row, LOOKED_AT) or ""
                if (hit := re.search(re.escape(text), whole, re.IGNORECASE)) is not None:
                    start = max(0, hit.start() - HEAD // 4)
                    cut = ("…" if start else "") + whole[start : start + HEAD]
                    return {**facts, "head": Private(cut), "found_in": where}
        head = table.text("response", row, HEAD * 4) or ""
        return {**facts, "head": Private(head[:HEAD]), "found_in": None}

    def _group_line(self, table: Table, row: int, text: str) -> Json:
        del text
        rows = list(table.group_of(row))
        rewards, tokens = (table.numbers[name][rows] for name in ("reward", "tokens"))
        cut = sum(table.word("finish_reason", at) == "length" for at in rows)
        facts = table.facts(row)
        head = (table.text("prompt", row, LOOKED_AT) or "")[-HEAD:]
        return {
            **{name: facts[name] for name in ("step", "sample_id", "domain", "task", "kept")},
            "rewards": [None if np.isnan(r) else float(r) for r in rewards],
            "head": Private(head),
            **_means(rewards, tokens, cut, int(table.flags["kept"][rows].sum())),
        }

    def _row(
        self, step: int, number: int, columns: Any = None, without: Any = ()
    ) -> dict[str, Any]:
        return read_row(rollout_file(self.run, step), number, columns, without)

    def _absent(self, line: str) -> UserError:
        state = self._index.state()
        if state.complete:
            return NotFoundError(line)
        return NotFoundError(
            f"{line} so far: {state.read} of {state.files} step files have been read"
        )

    def _trained_in(self, table: Table, row: Mapping[str, Any]) -> int | None:
        """Return the first step after ``row``'s that trained on its response, or None if there is none."""
        carried = Filter(words={"sample_id": [row["sample_id"] or ""]}, flags={"carried": True})
        rows = table.select(carried)
        same = rows[table.numbers["sample_index"][rows] == (row["sample_index"] or 0)]
        steps = table.numbers["step"][same]
        later = steps[steps > (row["step"] or 0)]
        return int(later.min()) if len(later) else None


def _cut(value: Any) -> Any:
    return value[:LONGEST_WORD] if isinstance(value, str) else value


def _progress(state: IndexState) -> dict[str, Any]:
    return {
        "files_read": state.read,
        "files": state.files,
        "problems": list(state.problems),
        "reading": not state.complete,
    }


def _steps(table: Table, rows: Rows) -> list[int]:
    return [int(step) for step in np.unique(table.numbers["step"][rows])]


def _means(rewards: Numbers, tokens: Numbers, cut: int, used: int) -> dict[str, Any]:
    scored, counted = rewards[~np.isnan(rewards)], tokens[~np.isnan(tokens)]
    return {
        "responses": len(rewards),
        "scored": len(scored),
        "passed": int((scored >= FULL_MARKS).sum()),
        "mean_reward": float(scored.mean()) if len(scored) else None,
        "mean_tokens": float(counted.mean()) if len(counted) else None,
        "truncated": cut,
        "kept": used,
    }
