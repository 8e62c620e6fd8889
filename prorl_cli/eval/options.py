"""The options that several ``prorl eval`` verbs take, and the settings that file, options and ``--set`` make.

An option writes one key of ``prorl_evaluation.config.EvalConfig`` and has the tree's own default; what
only shows (``--json``, ``--html``) stands in no config. Leaves out: what a verb does with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from prorl_evaluation.config import EvalConfig

Workers = Annotated[int, typer.Option(min=1, help="Worker processes.")]
Weak = Annotated[bool, typer.Option("--allow-weak", help="Run code without full isolation.")]
Model = Annotated[str | None, typer.Option(help="A model's name, path or hub id, without a run.")]
RunName = Annotated[str | None, typer.Option("--run", help="A run (default: the newest).")]
Checkpoint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STEP", help="base, latest or a step; repeatable (default: base and latest)."
    ),
]
Backend = Annotated[
    str,
    typer.Option(help="transformers, vllm, server or a plug-in's; auto takes vllm on a GPU."),
]
Batches = Annotated[
    str | None,
    typer.Option(help="Of transformers: fixed (repeatable bit for bit) or bucketed by length."),
]
Seed = Annotated[int, typer.Option(help="Seed of samples and intervals.")]
Device = Annotated[
    str, typer.Option(help="auto, cpu, cuda or cuda:N; several (cuda:0,cuda:1): a process each.")
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Move damaged journal lines to a .damaged file first.")
]

ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="YAML file of settings; options win over it.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="Override a setting; repeatable, wins over all."
    ),
]

ServerUrl = Annotated[
    str | None,
    typer.Option(
        "--server",
        help="Sample from this OpenAI-compatible server, http://host:8000/v1, or several (URL,URL).",
    ),
]
ServerModel = Annotated[
    str | None, typer.Option("--server-model", help="Its name there (default: the only one).")
]
ServerApi = Annotated[
    str,
    typer.Option(
        "--server-api",
        help="completions (prompts as token ids), chat, or auto: the former with a tokenizer.",
    ),
]
ServerKeyEnv = Annotated[
    str | None,
    typer.Option("--server-key-env", help="Environment variable that holds the server's key."),
]
ServerWeights = Annotated[
    Path | None,
    typer.Option("--server-weights", help="Folder with the very weights that are served."),
]
ServerTokenizer = Annotated[
    str | None, typer.Option("--server-tokenizer", help="The model's tokenizer, if not there.")
]
ServerExtra = Annotated[
    str | None,
    typer.Option("--server-extra", help="More request fields, JSON; part of the samples' key."),
]
ServerConcurrency = Annotated[
    int, typer.Option("--server-concurrency", min=1, help="Requests at once.")
]
ServerTimeout = Annotated[
    float, typer.Option("--server-timeout", min=1.0, help="Seconds an answer may take.")
]
ServerPatience = Annotated[
    float,
    typer.Option("--server-patience", min=1.0, help="Seconds to wait for a server that is gone."),
]
ServerRpm = Annotated[float | None, typer.Option("--server-rpm", help="Most requests a minute.")]
ServerTpm = Annotated[float | None, typer.Option("--server-tpm", help="Most tokens a minute.")]
ServerRefusals = Annotated[
    str,
    typer.Option(
        "--server-refusals",
        help="stop at a sample that the server refuses, or record it (counted, never scored).",
    ),
]
ServerPrice = Annotated[
    str | None,
    typer.Option("--server-price", help="in,out per million tokens: shows the cost."),
]

ClaimK = Annotated[
    int | None, typer.Option("--k", min=1, help="k of the claims (default: largest <= n/2).")
]
Beta = Annotated[bool, typer.Option("--beta", help="Add pass@k from Beta posteriors.")]
Rate = Annotated[
    float, typer.Option(min=0.0, max=0.99, help="Share of wrong answers the verifier accepts.")
]
Alpha = Annotated[
    float, typer.Option(min=1e-9, max=0.5, help="Chance of any false claim, all claims together.")
]
Margin = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Change of pass@k that counts as none.")
]
Cluster = Annotated[
    str, typer.Option(help="What is resampled: problem, or task with all its problems.")
]

SAMPLING = ("model", "data", "sampling", "suite", "server", "scoring", "output")
"""The sections whose keys are options of the verbs that sample."""
OPTION_OF = {
    "model.path": "model",
    "model.checkpoints": "checkpoint",
    "suite.name": "suite",
    "server.url": "server",
}
"""The options that are not called as their key is; a server's others begin with ``server_``."""


def option_keys(sections: Iterable[str] = SAMPLING) -> dict[str, str]:
    """Return option -> the key that it writes, for the options of ``sections``."""
    from prorl_evaluation.config import EvalConfig

    tree, keys = EvalConfig(), {}
    for section in sections:
        for name in type(getattr(tree, section)).model_fields:
            key = f"{section}.{name}"
            keys[OPTION_OF.get(key, f"server_{name}" if section == "server" else name)] = key
    return keys


def settings(
    context: typer.Context,
    file: Path | None,
    overrides: Sequence[str] | None,
    sections: Iterable[str] = SAMPLING,
) -> EvalConfig:
    """Return the settings of the file, of the options that the command line gave, and of ``--set``."""
    from prorl_evaluation.config import load_eval_config

    keys = option_keys(sections)
    given = {
        keys[name]: value
        for name, value in context.params.items()
        if name in keys and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return load_eval_config(file, given, overrides or ())
