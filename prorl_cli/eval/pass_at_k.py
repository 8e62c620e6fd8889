"""``prorl eval pass-at-k``: sample and judge models on a dataset.

Tables and JSON go to stdout, progress and messages to stderr. Leaves out: what is chosen (``choose``).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, say, stoppable, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.sampling import KEPT, models_of, session_of, settings_of
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
    """Sample n answers a problem and estimate pass@k (bare: of the newest run and its base). Given again
    it goes on where it was cut off; a larger --n adds to what is there."""
    from prorl_evaluation.compare import against_baseline
    from prorl_evaluation.sampling.choose import pick_dataset
    from prorl_evaluation.sampling.job import runs_programs
    from prorl_evaluation.tables import comparison_table, result_table
    from prorl_evaluation.types import shown_ks
    from prorl_inference.models.store import check_model
    from prorl_verifiers import VerifierPool

    asked = o.settings(context, config, overrides)
    settings_of(asked, None)  # k > n is said before anything is looked for
    progress = make_progress()
    models = models_of(asked, progress)
    samples, origin = pick_dataset(asked.data.dataset, asked.data.split, asked.data.limit)
    if asked.model.path is not None and asked.server.url is None:
        check_model(asked.model.path)
    settings = replace(settings_of(asked, *models[1:]), dataset=origin)
    kept = [s for s in samples if not runs_programs(s)]
    if len(kept) < len(samples) and not asked.scoring.allow_weak:
        from prorl_sandbox import probe

        walls = probe()
        if not walls.strong:  # code is left out, loudly, where this machine cannot isolate it
            warn(f"{len(samples) - len(kept)} code problems are left out: {walls.complaint()}")
            samples = kept
    session = session_of(asked, models, settings, samples)
    for line in session.description():
        say(line)
    for line in session.warnings():
        warn(line)
    who = asked.scoring
    with (
        stoppable(KEPT, progress),
        VerifierPool(workers=who.workers, allow_weak=who.allow_weak) as pool,
    ):
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
    if session.run is not None:
        say(f"write the report with: prorl eval report {session.run.path}")
