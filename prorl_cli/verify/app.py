"""``prorl verify answer|file|replay|serve``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import make_progress, print_json, say
from prorl_cli.groups import by_purpose
from prorl_cli.options import (
    AllowHost,
    AllowWeak,
    Json,
    Modes,
    ReadyFile,
    RewardServers,
    SandboxBackend,
    ThinkOpen,
    Timeout,
    TokenFile,
    Workers,
    file_to_write,
    real,
    whole,
)
from prorl_cli.verify.audit import audit
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_verifiers import Finding


class OnBadRow(StrEnum):
    """Treatment of a file with invalid lines."""

    STOP = "stop"
    SKIP = "skip"


SHOWN_BAD_ROWS = 5
"""Maximum number of skipped lines that are listed."""


PURPOSES = {
    "Commands to score responses": "answer file replay serve",
    "Commands to try a verifier": "audit",
}
app = typer.Typer(cls=by_purpose(PURPOSES), no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Score answers, files of answers and recorded rollouts."""


app.command("audit")(audit)


@app.command("answer")
def answer(
    response: Annotated[str, typer.Argument(help="Response to score; - reads it from stdin.")],
    verifier: Annotated[
        str,
        typer.Option(
            help="Verifier: math, stem, code, logic, instruction, composite, exact_match or one from a plug-in."
        ),
    ] = "math",
    gold: Annotated[str | None, typer.Option(help="Gold answer, for math and stem.")] = None,
    reference: Annotated[
        str | None, typer.Option(help="Reference of the task as JSON, instead of --gold.")
    ] = None,
    backend: SandboxBackend = "local",
    allow_weak: AllowWeak = False,
    timeout: Timeout = 10.0,
    think_open: ThinkOpen = False,
    mode: Modes = None,
    explained: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Explain the reward: the extracted answer, and each rule, test and constraint.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Score one response and print the verdict.

    Example: prorl verify answer --gold 42 'The answer is \\boxed{42}.'
    """
    from prorl_verifiers import (
        explained_row,
        load_task,
        parse_modes,
        verdict_row,
        verify,
        with_mode,
    )
    from prorl_verifiers.audit.report import printable
    from prorl_verifiers.extract import OPEN_THINK

    if (gold is None) == (reference is None):
        raise UserError("give either --gold or --reference")
    task = load_task(verifier, {"answer": gold} if gold is not None else str(reference))
    text = response
    if response == "-":  # invalid UTF-8 becomes lone surrogates, as in an argument
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    verdict = verify(
        OPEN_THINK + text if think_open else text,
        with_mode(task, parse_modes(mode or [])),
        sandbox=backend,
        allow_weak=allow_weak,
        timeout_seconds=timeout,
        explain=explained,
    )
    if as_json:
        row = verdict_row(None, verdict) | {"isolation": verdict.isolation}
        print_json(explained_row(verdict) if explained else row)
    else:
        reward = "none" if verdict.reward is None else f"{verdict.reward:g}"
        print(printable(f"reward {reward} · {verdict.status} · {verdict.reason}"))
        if verdict.extracted is not None:
            print(printable(f"extracted: {verdict.extracted}"))
        if explained:
            for line in _lines(verdict.explained(), ""):
                print(line)
    if verdict.is_infra_error:
        raise typer.Exit(1)


@app.command("file")
def file(
    source: Annotated[
        Path, typer.Argument(metavar="IN.jsonl", help="File with one response per line.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="File for the verdicts (default: stdout).", callback=file_to_write),
    ] = None,
    backend: SandboxBackend = "local",
    allow_weak: AllowWeak = False,
    workers: Workers = 2,
    timeout: Timeout = 10.0,
    think_open: ThinkOpen = False,
    mode: Modes = None,
    on_bad_row: Annotated[
        OnBadRow,
        typer.Option(
            help="What to do with an invalid line: stop before scoring, or skip the line."
        ),
    ] = OnBadRow.STOP,
    reward_server: RewardServers = None,
) -> None:
    """Score a file of responses, one verdict per line.

    Example: prorl verify file responses.jsonl --out verdicts.jsonl

    Verdicts are in the order of the responses. Exits with 1 if a response could not be scored (infra_error), or if its
    reward differs from the line's expected_reward. Skipped lines get no verdict; the first ones are listed on stderr.

    By default, instructions are checked in the mode `reference`, which follows the official checker; --mode
    instruction=fixed checks them as training does.
    """
    from prorl_common import atomic_write_text
    from prorl_verifiers import (
        modes_for,
        open_pool,
        parse_modes,
        read_items,
        verdict_row,
        with_mode,
    )
    from prorl_verifiers.audit.report import printable
    from prorl_verifiers.extract import OPEN_THINK

    modes = modes_for("file") | parse_modes(mode or [])
    bad: list[UserError] = []
    items = read_items(source, None if on_bad_row is OnBadRow.STOP else bad.append)
    if not items and not bad:
        raise UserError(f"{source} is empty: write one response per line into it")
    for error in bad[:SHOWN_BAD_ROWS]:
        say(printable(f"skipped {error}"))
    if len(bad) > SHOWN_BAD_ROWS:
        say(f"skipped {len(bad) - SHOWN_BAD_ROWS} more bad rows")
    opening = OPEN_THINK if think_open else ""
    pairs = [(opening + item.response, with_mode(item.task, modes)) for item in items]
    progress = make_progress()
    with open_pool(
        reward_server or (),
        workers,
        backend,
        allow_weak=allow_weak,
        timeout_seconds=timeout,
        say=say,
    ) as pool:
        pool.require(task for _, task in pairs)
        progress.start("verify", len(items))
        verdicts = pool.score(pairs, lambda _index, _verdict: progress.advance())
    progress.finish()
    rows = [verdict_row(item.id, verdict) for item, verdict in zip(items, verdicts, strict=True)]
    text = "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
    if out is None:
        sys.stdout.write(text)
    else:
        atomic_write_text(out, text)
    missed = [
        f"{item.id}: expected {item.expected:g}, got {verdict.reward} ({verdict.reason})"
        for item, verdict in zip(items, verdicts, strict=True)
        if not item.expects(verdict)
    ]
    for difference in missed[:SHOWN_BAD_ROWS]:
        say(printable(difference))
    rewards = [v.reward for v in verdicts if v.reward is not None]
    mean = f"{sum(rewards) / len(rewards):.4f}" if rewards else "none"
    parts = [f"{len(verdicts)} responses", f"mean reward {mean}"]
    statuses: Counter[str] = Counter(verdict.status for verdict in verdicts)
    order = ("scored", "unparsable", "timeout", "unfinished", "infra_error")
    parts += [f"{statuses[status]} {status}" for status in order if statuses[status]]
    if bad:
        parts.append(f"{len(bad)} bad rows skipped")
    if expected := sum(item.expected is not None for item in items):
        parts.append(f"{expected - len(missed)} of {expected} expected rewards")
    say(" · ".join(parts))
    if statuses["infra_error"] or missed:
        raise typer.Exit(1)


@app.command("replay")
def replay(
    run: Annotated[str, typer.Argument(help="Run: a folder, or a name under runs/.")],
    backend: SandboxBackend = "local",
    allow_weak: AllowWeak = False,
    workers: Workers = 2,
    timeout: Timeout = 10.0,
    reward_server: RewardServers = None,
    as_json: Json = False,
) -> None:
    """Score a run's recorded rollouts again.

    Example: prorl verify replay mine

    An environment gets the recorded responses again and its tools run again, so that its answers can be compared too.
    Exits with 0 if every reward agrees with the recorded one, else with 1.
    """
    from prorl_verifiers import open_pool, replay_run
    from prorl_verifiers.audit.report import printable

    folders = [path for path in (Path(run), Path("runs") / run) if path.is_dir()]
    if not folders:
        raise UserError(f"no such run: neither {run} nor {Path('runs') / run} is a folder")
    folder = next((path for path in folders if (path / "rollouts").is_dir()), folders[0])
    progress = make_progress()
    with open_pool(
        reward_server or (),
        workers,
        backend,
        allow_weak=allow_weak,
        timeout_seconds=timeout,
        say=say,
    ) as pool:
        progress.start("replay", None)
        result = replay_run(folder, pool, progress.advance)
    progress.finish()
    if as_json:
        keys = ("rows", "agree", "masked", "answers", "changed", "differences")
        print_json({key: getattr(result, key) for key in keys} | {"all_agree": result.all_agree})
    else:
        print(f"{result.agree} of {result.rows} rewards agree ({result.masked} had none recorded)")
        if result.answers:
            print(
                f"{result.answers - result.changed} of {result.answers} answers of environments are the recorded ones"
            )
        for row in result.differences[:20]:
            line = (
                f"step {row['step']} {row['sample_id']}#{row['sample_index']} {row['verifier']}: "
                f"recorded {row['reward']}, now {row['now']} ({row['status']}: {row['reason']})"
            )
            print(printable(line))
    if not result.all_agree:
        raise typer.Exit(1)


_SHOWN = 400
"""Maximum number of characters shown of a text."""


def _lines(findings: tuple[Finding, ...], indent: str) -> Iterator[str]:
    from prorl_verifiers.audit.report import printable
    from prorl_verifiers.findings import cut

    for finding in findings:
        outcome = "" if finding.outcome == "neutral" else f": {finding.outcome}"
        place = f" (characters {finding.span[0]} to {finding.span[1]})" if finding.span else ""
        yield f"{indent}{printable(finding.title)}{place}{outcome}"
        for label, text in finding.fields:
            first, *more = map(printable, cut(text.rstrip("\n"), _SHOWN).split("\n"))
            yield f"{indent}  {label}: {first}"
            yield from (f"{indent}    {line}" for line in more)
        yield from _lines(finding.parts, indent + "  ")


@app.command("serve")
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; any other than loopback requires a token.")
    ] = "127.0.0.1",
    port: Annotated[int, whole(high=65535, help="Port; 0 chooses a free one.")] = 8421,
    uds: Annotated[
        Path | None, typer.Option(help="Unix socket to listen on instead of host and port.")
    ] = None,
    workers: Workers = 2,
    backend: SandboxBackend = "local",
    allow_weak: AllowWeak = False,
    timeout: Timeout = 10.0,
    queue: Annotated[int, whole(low=1, help="Maximum number of waiting items.")] = 20_000,
    max_body_mb: Annotated[float, real(help="Maximum size of a request body in MiB.")] = 64.0,
    token_file: TokenFile = None,
    allow_host: AllowHost = None,
    mode: Modes = None,
    think_open: ThinkOpen = False,
    drain: Annotated[
        float, real(help="Time in seconds to finish accepted requests after SIGTERM.")
    ] = 60.0,
    ready_file: ReadyFile = None,
) -> None:
    """Serve the verifiers over HTTP.

    Example: prorl verify serve --port 8421 --workers 8

    Prints its address when it is ready, and stops at SIGTERM or Ctrl-C.
    """
    from prorl_common.serving.options import read_token
    from prorl_verifiers import parse_modes
    from prorl_verifiers.serve import run
    from prorl_verifiers.serve.options import ServeOptions

    run.serve(
        ServeOptions(
            host=host,
            port=port,
            hosts=tuple(allow_host or ()),
            uds=uds,
            workers=workers,
            backend=backend,
            allow_weak=allow_weak,
            timeout=timeout,
            queue=queue,
            max_body_mb=max_body_mb,
            token=read_token(token_file),
            modes=parse_modes(mode or []),
            think_open=think_open,
            drain_seconds=drain,
            ready_file=ready_file,
        )
    )
