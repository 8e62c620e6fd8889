"""Derives models, problems and sampling parameters from a command's settings."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, check_output, nearest
from prorl_common.seeds import TURNS
from prorl_evaluation.config import EvalConfig, SamplingSection, ServerSection
from prorl_evaluation.sampling.choose import (
    Run,
    Target,
    find_run,
    model_target,
    pick_dataset,
    run_target,
)
from prorl_evaluation.sampling.conversations import settings_for
from prorl_evaluation.sampling.session import Server, Session
from prorl_evaluation.sampling.stored import chosen
from prorl_evaluation.types import EvalResult, EvalSettings, EvaluationError
from prorl_inference.spec import SERVER
from prorl_verifiers import runs_programs

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_datasets import Sample


DEFAULT_K = 128
DEFAULT_TEMPERATURE, DEFAULT_TOP_P, DEFAULT_MAX_TOKENS = 0.6, 0.95, 512


@dataclass(frozen=True, slots=True)
class Protocol:
    name: str
    n: int
    k: int
    temperature: float
    top_p: float
    max_tokens: int


PROTOCOLS = {
    p.name: p
    for p in (
        Protocol("prorl", 16, 1, 0.6, 0.95, 32_768),
        Protocol("boundary", 256, 128, 0.6, 0.95, 32_768),
        Protocol("justrl", 32, 1, 0.7, 0.9, 32_768),
    )
}


def pick_protocol(name: str | None) -> Protocol | None:
    """Return the protocol with this name. Raises EvaluationError for an unknown name."""
    if name is None:
        return None
    protocol = PROTOCOLS.get(name)
    if protocol is None:
        raise EvaluationError(
            f"no protocol '{name}'{nearest(name, PROTOCOLS)}; known: {', '.join(PROTOCOLS)}"
        )
    return protocol


def merge(
    given: SamplingSection, protocol: Protocol | None, run_limit: int | None = None
) -> Protocol:
    """Complete the user's parameters from the protocol, else from the defaults (n = 2k)."""
    k = given.k or (protocol.k if protocol else DEFAULT_K)
    base = protocol or Protocol(
        "", 2 * k, k, DEFAULT_TEMPERATURE, DEFAULT_TOP_P, run_limit or DEFAULT_MAX_TOKENS
    )
    own = given.model_dump(include={"n", "temperature", "top_p", "max_tokens"}, exclude_none=True)
    how = replace(base, k=k, **own)
    return how if given.k is not None else replace(how, k=min(k, how.n))


def models_of(
    config: EvalConfig, progress: Progress
) -> tuple[list[Target], Run | None, Server | None]:
    """Return the models to evaluate, and the run and the server that they come from, or None."""
    from prorl_inference import device_list
    from prorl_inference.models.loading import require_device

    section = config.model
    urls = config.server.url
    if not urls:
        for device in device_list(section.device):
            require_device(device)
        if named := [f"server.{n}" for n in config.server.changed()]:
            verb = "is" if len(named) == 1 else "are"
            raise UserError(
                f"{', '.join(named)} {verb} given without server.url: add --set server.url=http://host:8000/v1, "
                "or remove these server settings"
            )
        targets, run = _targets(section.path, section.run, section.checkpoints)
        return targets, run, None
    if section.path is not None:
        raise UserError(
            "--model cannot be used with server.url: name the server's model with --set server.model=NAME"
        )
    targets, run = [], None
    if section.run is not None or section.checkpoints:
        targets, run = _targets(None, section.run, section.checkpoints)
    if len(targets) > 1:
        raise UserError(
            "the server has only one model: say with --checkpoint which checkpoint of the run it is"
        )
    target = targets[0] if targets else None
    server = server_of(urls, config.server, target.model if target else None)
    name = server.options.model
    if name is None:
        with contextlib.closing(server.open(SERVER, progress.message)) as generator:
            name = generator.model_id
        server = replace(server, options=replace(server.options, model=name))
    if target is None:
        target = model_target(name)
    return [target], run, server


def _targets(
    model: str | None, run: str | None, checkpoints: Sequence[str] | None
) -> tuple[list[Target], Run | None]:
    if model is not None:
        if run is not None or checkpoints:
            raise UserError("give --model, or --run with --checkpoint, not both")
        return [model_target(model)], None
    stored_run = find_run(run)
    names = dict.fromkeys(checkpoints or ["base", "latest"])
    return [run_target(stored_run, which) for which in names], stored_run


def server_of(
    urls: Sequence[str], section: ServerSection, run_weights: str | None = None
) -> Server:
    """Return the server at ``urls``.

    ``run_weights``, a folder, replaces an unset ``server.weights``. Raises UserError for invalid settings.
    """
    from prorl_inference import ServerOptions
    from prorl_inference.backends.openai.options import parse_extra, parse_price, server_address

    for url in urls:
        server_address(url)
    weights = section.weights
    if weights is None and run_weights is not None and Path(run_weights).is_dir():
        weights = Path(run_weights)
    if weights is not None and not any(weights.glob("*.safetensors")):
        raise UserError(
            f"server.weights is {weights}, which has no .safetensors file: name the folder of the model"
        )
    extra = json.dumps(section.extra) if isinstance(section.extra, dict) else section.extra
    options = ServerOptions(
        model=section.model,
        api=section.api,
        key_env=section.key_env,
        weights=weights,
        tokenizer=section.tokenizer,
        extra=parse_extra(extra),
        concurrency=section.concurrency,
        timeout=section.timeout,
        patience=section.patience,
        rpm=section.rpm,
        tpm=section.tpm,
        refusals=section.refusals,
        price=parse_price(section.price),
    )
    return Server(tuple(urls), options)


def settings_of(
    config: EvalConfig,
    run: Run | None,
    server: Server | None = None,
    suite_protocol: Protocol | None = None,
) -> EvalSettings:
    """Return the settings, each from ``config``, else its protocol, else ``suite_protocol``, else the defaults."""
    from prorl_inference import BACKENDS, device_list, pick_backend

    model, s = config.model, config.sampling
    devices, urls = device_list(model.device), config.server.url
    how = merge(s, pick_protocol(s.protocol) or suite_protocol, run_limit(run))
    backend = pick_backend(model.backend, devices[0], urls[0] if urls else None)
    backend.check_installed()
    if model.batches is not None and not backend.fixed_batches:
        raise UserError(
            f"model.batches cannot be set, because the backend {backend.name} batches by itself: "
            "remove it, or use model.backend=transformers"
        )
    origin = BACKENDS.origin(backend.name)
    # the plug-in is part of each sample's key, so that samples of two versions are never mixed
    plugin = {} if origin.is_ours else {"plugin": f"{origin.source} {origin.version}"}
    return EvalSettings(
        n=how.n,
        k=how.k,
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        turns=s.turns or run_limit(run, "turns", TURNS),
        seed=s.seed,
        batch_rows=config.server.concurrency if backend.served else backend.rows,
        backend=backend.name if server is None else f"{backend.name}:{server.options.resolved_api}",
        protocol=how.name,
        batches=model.batches or "fixed",
        extra={**plugin, **(server.options.extra if server is not None else {})},
    )


def session_of(
    config: EvalConfig,
    models: tuple[list[Target], Run | None, Server | None],
    settings: EvalSettings,
    samples: Sequence[Sample] = (),
) -> Session:
    targets, run, server = models
    session = Session(
        targets,
        run,
        samples,
        settings,
        config.data.limit,
        config.output.out,
        config.model.device,
        server,
        config=config.to_yaml(),
    )
    for target in targets:
        check_output(session.folder(target), folder=True)
    return session


def run_limit(run: Run | None, name: str = "max_tokens", default: int = DEFAULT_MAX_TOKENS) -> int:
    value = run.setting("rollout", name) if run is not None else None
    return value if isinstance(value, int) else default


def open_session(config: EvalConfig, progress: Progress) -> tuple[Session, list[str]]:
    """Return the session for ``pass-at-k``, and warnings to show before it starts.

    Code problems are omitted if this machine cannot isolate untrusted code. Raises UserError for invalid settings.
    """
    from prorl_inference.models.store import check_model

    settings_of(config, None)  # report k > n before loading anything
    models = models_of(config, progress)
    data = config.data
    samples, origin = pick_dataset(data.dataset, data.split, data.limit)
    if config.model.path is not None and not config.server.url:
        check_model(config.model.path)
    settings = settings_for(samples, settings_of(config, *models[1:]), dataset=origin)
    complaints = []
    runnable = [number for number, s in enumerate(samples) if not runs_programs(s.task)]
    scoring = config.scoring
    if len(runnable) < len(samples) and not (scoring.allow_weak or scoring.servers):
        from prorl_verifiers import no_isolation

        if (why := no_isolation()) is not None:
            complaints.append(f"{len(samples) - len(runnable)} code problems are left out: {why}")
            samples = chosen(samples, runnable)
    session = session_of(config, models, settings, samples)
    return session, [*complaints, *session.warnings()]


def evaluate_models(
    model: str | None = None,
    *,
    run: str | None = None,
    checkpoints: Sequence[str | int] | None = None,
    dataset: str | Path | None = None,
    k: int | None = None,
    n: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> list[EvalResult]:
    """Sample ``n`` answers to each problem, score them, and return a result for each model.

    This is ``prorl eval pass-at-k``. ``model`` is a name, folder or hub id. If None, the ``checkpoints`` ("base",
    "latest" or steps) of ``run`` (default: the newest under runs/) are evaluated. ``dataset`` is a folder (default: the
    newest under data/). ``settings`` are config keys with ``__`` for the dot, such as ``sampling__temperature=1.0``. An
    interrupted call can be repeated to continue. Raises UserError or ServiceError.
    """
    from prorl_common import PlainProgress
    from prorl_evaluation.config import load_eval_config
    from prorl_verifiers import open_pool

    named: dict[str, Any] = {
        "model.path": model,
        "model.run": run,
        "model.checkpoints": None if checkpoints is None else [str(c) for c in checkpoints],
        "data.dataset": None if dataset is None else str(dataset),
        "sampling.k": k,
        "sampling.n": n,
    }
    named |= {key.replace("__", "."): value for key, value in settings.items()}
    config = load_eval_config(None, {key: v for key, v in named.items() if v is not None})
    progress = progress or PlainProgress()
    session, complaints = open_session(config, progress)
    for line in [*session.description(), *(f"WARNING: {line}" for line in complaints)]:
        progress.message(line)
    who = config.scoring
    with open_pool(
        who.servers, who.workers, allow_weak=who.allow_weak, say=progress.message
    ) as pool:
        pool.require(sample.task for sample in session.samples)
        return session.evaluate(pool, progress)
