"""``prorl eval pass-at-k``: sample and judge models on a dataset.

Tables and JSON go to stdout, progress and messages to stderr. Leaves out: what is chosen and asked for (``asked``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import KEPT, make_progress, print_json, say, stoppable, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.tables import print_table, warn_of
from prorl_cli.options import JsonNotTables, PluginOption, folder_to_write

Dataset = Annotated[Path | None, typer.Option(help="Dataset folder (default: newest in data/).")]
Split = Annotated[str, typer.Option(help="train, validation or test.")]
K = Annotated[int | None, typer.Option("--k", min=1, help="The largest k of interest (128).")]
N = Annotated[int | None, typer.Option("--n", min=1, help="Samples a problem (default: 2k).")]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="Default 0.6.")]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Default 0.95.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Token limit of an answer (default: the run's, else 512).")
]
ProtocolName = Annotated[
    str | None,
    typer.Option(help="prorl, boundary or justrl: n, k, temperature, top-p and token limit."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Problems, the domains in turn.")]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder for one model; a parent folder for several.", callback=folder_to_write
    ),
]


def pass_at_k_command(
    context: typer.Context,
    model: o.Model = None,
    run: o.RunName = None,
    checkpoint: o.Checkpoint = None,
    dataset: Dataset = None,
    split: Split = "test",
    k: K = None,
    n: N = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    protocol: ProtocolName = None,
    backend: o.Backend = "auto",
    batches: o.Batches = None,
    limit: Limit = None,
    seed: o.Seed = 0,
    out: Out = None,
    device: o.Device = "auto",
    repair: o.Repair = False,
    workers: o.Workers = 2,
    allow_weak: o.Weak = False,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
    server: o.ServerUrl = None,
    server_model: o.ServerModel = None,
    server_api: o.ServerApi = "auto",
    server_key_env: o.ServerKeyEnv = None,
    server_weights: o.ServerWeights = None,
    server_tokenizer: o.ServerTokenizer = None,
    server_extra: o.ServerExtra = None,
    server_concurrency: o.ServerConcurrency = 32,
    server_timeout: o.ServerTimeout = 1800.0,
    server_patience: o.ServerPatience = 600.0,
    server_rpm: o.ServerRpm = None,
    server_tpm: o.ServerTpm = None,
    server_refusals: o.ServerRefusals = "stop",
    server_price: o.ServerPrice = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Sample n answers a problem and estimate pass@k.

    Bare: of the newest run and its base. Given again it goes on where it was cut off; a larger --n adds to
    what is there.
    """
    from prorl_evaluation.compare import against_baseline
    from prorl_evaluation.sampling.asked import open_session
    from prorl_evaluation.tables import comparison_table, doubt_table, result_table
    from prorl_evaluation.types import shown_ks
    from prorl_verifiers import VerifierPool

    asked = o.settings(context, config, overrides)
    progress = make_progress()
    session, complaints = open_session(asked, progress)
    for line in session.description():
        say(line)
    for line in complaints:
        warn(line)
    who = asked.scoring
    with (
        stoppable(KEPT, progress),
        VerifierPool(workers=who.workers, allow_weak=who.allow_weak) as pool,
    ):
        pool.require(sample.task for sample in session.samples)
        results = session.evaluate(pool, progress)

    comparison = against_baseline(results)
    if json_out:
        against = comparison.to_json() if comparison is not None else None
        print_json({"results": [r.to_json() for r in results], "comparison": against})
        return
    for result in results:
        print_table(result_table(result))
    if comparison is not None:
        metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
        print_table(comparison_table(comparison, metrics))
        warn_of(comparison)
    print_table(doubt_table(results, [comparison] if comparison is not None else []))
    if session.run is not None:
        say(f"write the report with: prorl eval report {session.run.path}")
