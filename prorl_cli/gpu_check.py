"""``prorl doctor --gpu``: measure a GPU, and run training steps, sampling and evaluation on it.

Each stage is a separate process, so that a crash ends only that stage.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common.checks import Check, is_installed

if TYPE_CHECKING:
    from prorl_inference import Completion, Generator, OnResult, Request, SamplingParams
    from prorl_training.config import TrainConfig
    from prorl_training.planning.model_shape import ModelShape

MOST_MISMATCH_KL = 0.005
"""Maximum KL between sampler and trainer in nats per token."""
RUN, DATA = "check", "data/check"
STEPS = 2
"""Number of steps of a stage; the last is reported, because the first also allocates the optimiser's state."""
PROMPT_TOKENS = 64
"""Maximum number of tokens of a prompt."""


class GpuSize(StrEnum):
    """Size of the random model and of the steps."""

    tiny = "tiny"
    small = "0.6b"
    recipe = "1.5b"


class Stage(StrEnum):
    device = "device"
    model = "model"
    update = "update"
    transformers = "transformers"
    vllm = "vllm"
    data = "data"
    run = "run"
    evaluation = "evaluation"


@dataclass(frozen=True, slots=True)
class Size:
    """A random model and a step of ``prompts`` x ``samples`` responses with ``tokens`` tokens each.

    With Transformers, responses have ``sampled`` tokens. ``model`` is the model's config. ``matrix`` is the size of the
    square matrices that are multiplied.
    """

    model: Mapping[str, Any]
    prompts: int
    samples: int
    tokens: int
    sampled: int
    pack_tokens: int
    matrix: int


def _shape(
    kind: str, sizes: tuple[int, int, int, int, int, int, int], tied: bool
) -> dict[str, Any]:
    names = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers")
    heads = ("num_attention_heads", "num_key_value_heads", "head_dim")
    values = dict(zip((*names, *heads), sizes, strict=True))
    return {"model_type": kind, **values, "tie_word_embeddings": tied}


SIZES = {
    GpuSize.tiny: Size(
        _shape("qwen2", (512, 32, 64, 2, 4, 2, 8), tied=False), 2, 4, 12, 6, 64, matrix=256
    ),
    GpuSize.small: Size(  # Qwen3-0.6B; 16k as in prime-rl's benchmarks
        _shape("qwen3", (151936, 1024, 3072, 28, 16, 8, 128), tied=True),
        *(4, 4, 16320, 512, 16384),
        matrix=8192,
    ),
    GpuSize.recipe: Size(  # DeepSeek-R1-Distill-Qwen-1.5B; lengths of prorl-v2
        _shape("qwen2", (151936, 1536, 8960, 28, 12, 2, 128), tied=False),
        *(4, 8, 8192, 512, 16384),
        matrix=8192,
    ),
}


@dataclass(frozen=True, slots=True)
class Job:
    """The work of one process. ``tflops`` and ``gbytes`` are the device's measured speeds per second (0: unknown)."""

    stage: Stage
    size: GpuSize
    model: str
    device: str
    tflops: float = 0.0
    gbytes: float = 0.0


@dataclass(frozen=True, slots=True)
class StageResult:
    """Outcome of a stage: ``numbers`` are its measurements by name and unit."""

    check: Check
    numbers: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self.check) | {"seconds": self.seconds, "numbers": dict(self.numbers)}


def check_gpu(
    model: str | None,
    size: GpuSize,
    minutes: float,
    device: str = "cuda",
    stages: Sequence[Stage] = tuple(Stage),
) -> Iterator[StageResult]:
    """Yield the result of each stage, which may take at most twice its share of the remaining time."""
    from prorl_inference import DEFAULT_MODEL, is_cached

    if model is not None and Path(model).exists():
        model = str(Path(model).resolve())  # stages work in another folder
    steps = {Stage.update, Stage.transformers, Stage.vllm}
    needed = {*stages, *([Stage.model] if steps & set(stages) else [])}
    stages = [s for s in Stage if s in needed and not (s is Stage.model and model is not None)]
    deadline = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="prorl-gpu-") as name:
        folder = Path(name)
        job = Job(Stage.device, size, model or str(folder / "model"), device)
        trained = model or (DEFAULT_MODEL if is_cached(DEFAULT_MODEL) else None)
        for i, stage in enumerate(stages):
            started = time.monotonic()
            left = deadline - started
            result = _unmet(stage, trained, left)
            if result is None:
                seconds = min(left, 2 * left / (len(stages) - i))
                result = _run(replace(job, stage=stage), folder, seconds, trained or "")
            yield replace(result, seconds=round(time.monotonic() - started, 1))
            if stage is Stage.device and result.numbers:
                tflops, gbytes = result.numbers["tflops"], result.numbers["gbytes"]
                job = replace(job, tflops=tflops, gbytes=gbytes)


def _unmet(stage: Stage, trained: str | None, left: float) -> StageResult | None:
    reason, cure = "", ""
    if left < 1:
        reason, cure = "not run: no time was left", f"prorl doctor --gpu --stage {stage}"
    elif stage is Stage.vllm and not is_installed("vllm"):
        reason, cure = "vllm is not installed", "install prorl[vllm]"
    elif stage in (Stage.run, Stage.evaluation) and trained is None:
        reason = "not run: a random model earns no rewards"
        cure = "name a trained model with --model, or run prorl model fetch"
    return StageResult(Check(stage, "note", reason, cure)) if reason else None


def _run(job: Job, folder: Path, seconds: float, trained: str) -> StageResult:
    settings = ("--set", f"model.device={job.device}")
    match job.stage:
        case Stage.data:
            words = ["data", "build", "--recipe", "quickstart", "--out", DATA]
        case Stage.run:
            words = ["train", "--preset", "quickstart", "--data", DATA, "--steps", "3"]
            words += ["--set", "rollout.prompts=8", "--set", "validation.every=0", *settings]
            words += ["--model", trained, "--name", RUN]
        case Stage.evaluation:
            words = ["eval", "pass-at-k", "--run", RUN, "--checkpoint", "latest", "--dataset", DATA]
            words += ["--limit", "8", "--k", "2", "--n", "4", *settings]
        case _:
            words = []
    program = ["prorl_cli", *words] if words else ["prorl_cli.gpu_check", json.dumps(asdict(job))]
    cure = f"to see its whole output, run it alone: prorl {' '.join(words)}" if words else ""
    try:
        process = subprocess.run(
            [sys.executable, "-m", *program],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        detail = f"took more than its {seconds:.0f} s"
        return StageResult(Check(job.stage, "problem", detail, cure or "give more --minutes"))
    if process.returncode:
        lines = (process.stderr or process.stdout).strip().splitlines() or ["no output"]
        detail = f"exit code {process.returncode}: {lines[-1]}"
        return StageResult(Check(job.stage, "problem", detail, cure))
    if job.stage is Stage.run:
        lines = (folder / "runs" / RUN / "metrics.jsonl").read_text("utf-8").splitlines()
        return StageResult(check_metrics(job.stage, [json.loads(line) for line in lines]))
    if words:
        return StageResult(Check(job.stage, "ok", "done"))
    lines = process.stdout.splitlines()  # vLLM writes its log there too
    answer = json.loads(next(x for x in reversed(lines) if x.startswith('{"check"')))
    return StageResult(Check(**answer["check"]), answer["numbers"])


def check_metrics(name: str, rows: Sequence[Mapping[str, Any]]) -> Check:
    """Check that the steps in ``rows`` (of metrics.jsonl) updated the policy, and that sampler and trainer agree."""
    updated = [row for row in rows if "grad_norm" in row]
    if not updated:
        cure = "use a model that earns rewards"
        return Check(name, "problem", "no group had different rewards", cure)
    mismatch = max(float(row.get("mismatch_kl") or 0.0) for row in updated)
    last = updated[-1]
    detail = (
        f"{len(updated)} of {len(rows)} steps learned; gradient norm {last['grad_norm']:.3g}, "
        f"mismatch KL {mismatch:.2g} (at most {MOST_MISMATCH_KL:g}), "
        f"{last['tokens_per_second']:,.0f} tokens/s, update {last['update_seconds']:.3g} s"
    )
    if not mismatch <= MOST_MISMATCH_KL:
        return Check(name, "problem", detail, "log-probs differ: do not train like this")
    if not 0 < last["grad_norm"] < math.inf:
        return Check(name, "problem", detail, "the gradient is not finite: do not train like this")
    if any(row.get("infra_errors") for row in rows):
        return Check(name, "problem", f"{detail}; some rewards failed", "run prorl sandbox doctor")
    return Check(name, "ok", detail)


def run_stage(job: Job) -> StageResult:
    match job.stage:
        case Stage.device:
            return _device(job)
        case Stage.model:
            return _make_model(job)
        case _:
            return _steps(job)


def _device(job: Job) -> StageResult:
    import torch

    on_gpu, side = job.device.startswith("cuda"), SIZES[job.size].matrix
    matrix = torch.randn(side, side, dtype=torch.bfloat16, device=job.device)
    target, repeats = torch.empty_like(matrix), 20
    wait: Callable[[], None] = torch.cuda.synchronize if on_gpu else (lambda: None)

    def measure(work: Callable[[], object]) -> float:
        started = 0.0
        for repeat in range(1 + repeats):  # the first selects a kernel
            if repeat == 1:
                wait()
                started = time.perf_counter()
            work()
        wait()
        return (time.perf_counter() - started) / repeats

    product = measure(lambda: torch.mm(matrix, matrix, out=target))
    tflops = 2 * side**3 / product / 1e12
    gbytes = 2 * 2 * side**2 / measure(lambda: target.copy_(matrix)) / 1e9  # read and written
    name = torch.cuda.get_device_name(job.device) if on_gpu else "CPU"
    free = torch.cuda.mem_get_info(job.device)[0] / 1e9 if on_gpu else 0.0
    detail = (
        f"{name}{f', {free:.1f} GB free' if on_gpu else ''}, torch {torch.__version__}, "
        f"{tflops:.3g} TFLOP/s in bf16 products, {gbytes:,.3g} GB/s in copies"
    )
    numbers = {"tflops": tflops, "gbytes": gbytes, "free_gb": free}
    return StageResult(Check(job.stage, "ok", detail), numbers)


def _make_model(job: Job) -> StageResult:
    import torch
    import transformers

    from prorl_inference.testing import byte_tokenizer

    hf: Any = transformers
    shape = dict(SIZES[job.size].model)
    limits = {"max_position_embeddings": 32768, "initializer_range": 0.04}
    ends = {"eos_token_id": 257, "bos_token_id": None, "pad_token_id": 256}
    config = hf.AutoConfig.for_model(shape.pop("model_type"), **shape, **limits, **ends)
    torch.manual_seed(0)
    with torch.device(job.device):
        model = hf.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(job.model)
    byte_tokenizer(config.vocab_size).save_pretrained(job.model)
    count = model.num_parameters()
    detail = f"{count / 1e9:.3g} B random parameters, {config.vocab_size:,} tokens"
    return StageResult(Check(job.stage, "ok", detail), {"parameters": count})


class RandomResponses:
    """Generates random responses, with log-probs from the policy."""

    model_id, model_digest = "random", ""

    def __init__(self, policy: Any, encode: Callable[[Any], Sequence[int]], vocab: int) -> None:
        self._policy, self._encode, self._vocab = policy, encode, vocab

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        answers = [[self._respond(r.prompt, s, params) for s in r.seeds] for r in requests]
        for i, answer in enumerate(answers):
            if on_result is not None:
                on_result(i, answer)
        return answers

    def _respond(self, prompt: Any, seed: int, params: SamplingParams) -> Completion:
        from prorl_inference import Completion
        from prorl_training.policy.packing import PromptGroup, build_pack

        ids = tuple(random.Random(seed).choices(range(self._vocab), k=params.max_tokens))
        pack = build_pack([PromptGroup(tuple(self._encode(prompt)), (ids,), (0,))])
        logprobs = self._policy.logprobs(pack, params.temperature).tolist()
        return Completion("x" * (1 + seed % 2), ids, tuple(logprobs), "length")

    def sync_weights(self, model: Any) -> None: ...

    def close(self) -> None: ...


class Meter:
    """Wraps a generator, and measures the memory in bytes that sampling and the update use."""

    def __init__(self, generator: Generator, device: str) -> None:
        self._generator, self._on_gpu = generator, device.startswith("cuda")
        self.peaks: dict[str, int] = {}
        self.freed = 0
        self.wake_seconds = 0.0
        self._base = self._used()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def sleep(self) -> None:
        from prorl_inference import SleepingGenerator

        self._end("sampling")
        awake = self._used()[0]
        if isinstance(self._generator, SleepingGenerator):
            self._generator.sleep()
        self.freed = awake - self._used()[0]
        self._begin()

    def sync_weights(self, model: Any) -> None:
        self._end("update")
        started = time.perf_counter()
        self._generator.sync_weights(model)
        self.wake_seconds = time.perf_counter() - started
        self._begin()

    def _used(self) -> tuple[int, int]:
        """Return the number of bytes used on the device, and of those reserved by torch."""
        import torch

        if not self._on_gpu:
            import resource

            return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 0
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        return total - free, torch.cuda.memory_reserved()

    def _begin(self) -> None:
        import torch

        self._base = self._used()
        if self._on_gpu:
            torch.cuda.reset_peak_memory_stats()

    def _end(self, stage: str) -> None:
        import torch

        # a sleeping engine's memory stays in torch's count, so only what was added is used
        added = torch.cuda.max_memory_reserved() - self._base[1] if self._on_gpu else 0
        self.peaks[stage] = max(self._base[0] + added, self._used()[0])


def _steps(job: Job) -> StageResult:
    """Run training steps with rewards that depend on the length of the text."""
    from prorl_common import NullProgress
    from prorl_inference import encode_prompt, fetch_or_resolve
    from prorl_training.engine.local import LocalEngine
    from prorl_training.engine.loop import Parts, TrainingLoop
    from prorl_training.planning.fit import planned
    from prorl_training.planning.model_shape import model_shape
    from prorl_training.rollout.prompts import PromptSource
    from prorl_training.run.folder import RunFolder
    from prorl_training.testing import ByLength, named_sample

    path = fetch_or_resolve(job.model, NullProgress())
    config, shape = _config(job, str(path)), model_shape(str(path))
    samples = [named_sample(f"Question {i}.") for i in range(STEPS * config.rollout.prompts)]
    folder = RunFolder(Path(f"steps-{job.stage}").resolve())
    folder.create(config)
    machinery = LocalEngine(config, folder, (samples, []), ByLength(), NullProgress()).load(None)
    policy, tokenizer = machinery.policy, machinery.tokenizer

    def encode(messages: Any) -> list[int]:
        return encode_prompt(tokenizer, messages)

    if job.stage is Stage.update:
        inner: Any = RandomResponses(policy, encode, len(tokenizer))
    else:
        inner = machinery.open_generator()
    meter = Meter(inner, job.device)
    prompts = PromptSource(samples, lambda s: encode(s.prompt), machinery.context)
    generator: Any = meter
    loop = TrainingLoop(
        config,
        Parts(prompts, [], policy, tokenizer, generator, ByLength(), folder, NullProgress()),
    )
    policy.reset_reference(clear_optimizer=True)
    rows = [loop.step(step) for step in range(1, STEPS + 1)]
    inner.close()
    numbers = _numbers(job, config, shape, rows[-1]) | {
        "freed_gb": meter.freed / 1e9,
        "wake_seconds": meter.wake_seconds,
    }
    check = check_metrics(job.stage, rows)
    parts = [check.detail]
    measured = ("update",) if job.stage is Stage.update else ("sampling", "update")
    for work in measured:
        share = numbers.get(f"{work}_roofline")
        speed = f"{work} {numbers[f'{work}_tokens_per_second']:,.0f} tokens/s"
        parts.append(speed if share is None else f"{speed} ({share:.1%} of the roofline)")
    if job.stage is Stage.vllm:
        parts.append(f"sleep frees {meter.freed / 1e9:.3g} GB, wakes in {meter.wake_seconds:.2g} s")
    cure, state = check.cure, check.state
    estimates = {stage.name: stage.total for stage in planned(config).worst.stages}
    for name in measured:
        peak = meter.peaks[name]
        numbers |= {f"{name}_peak_gb": peak / 1e9, f"{name}_fit_gb": estimates[name] / 1e9}
        parts.append(f"{name} peak {peak / 1e9:.3g} GB (train fit: {estimates[name] / 1e9:.3g})")
        on_gpu = job.device.startswith("cuda")  # on the CPU the whole process is measured
        if on_gpu and peak > estimates[name] and state == "ok":
            state, cure = "note", "train fit estimates too little: leave room, and report this"
    return StageResult(Check(job.stage, state, "; ".join(parts), cure), numbers)


def _config(job: Job, model: str) -> TrainConfig:
    from prorl_training.config.loading import load_config

    size = SIZES[job.size]
    tokens = size.sampled if job.stage is Stage.transformers else size.tokens
    backend = "vllm" if job.stage is Stage.vllm else "transformers"
    settings: dict[str, Any] = {
        "model.path": model,
        "model.device": job.device,
        "steps": STEPS,
        "rollout.backend": backend,
        "rollout.prompts": size.prompts,
        "rollout.samples": size.samples,
        "rollout.batch_rows": size.prompts * size.samples,
        "rollout.max_tokens": tokens,
        "rollout.max_prompt_tokens": PROMPT_TOKENS,
        "rollout.vllm_context": tokens + PROMPT_TOKENS,
        "loss.pack_tokens": size.pack_tokens,
        "loss.mini_batches": min(4, size.prompts),
        "dynamic_sampling.enabled": "false",
        "kl.measure_share_every": 0,
        "validation.every": 0,
        "logging.rollouts_every": 0,
    }
    return load_config("prorl-v2", None, [f"{key}={value}" for key, value in settings.items()])


def _numbers(
    job: Job, config: TrainConfig, shape: ModelShape, row: Mapping[str, Any]
) -> dict[str, float]:
    rows = config.rollout.prompts * config.rollout.samples
    length = float(row["response_length_mean"])
    numbers = {
        "grad_norm": float(row["grad_norm"]),
        "mismatch_kl": float(row["mismatch_kl"]),
        "step_seconds": float(row["seconds"]),
        "tokens": rows * length,
    }
    least = least_seconds(job, config, shape, rows, length)
    for work, key in (("sampling", "sample_seconds"), ("update", "update_seconds")):
        seconds = max(float(row[key]), 1e-9)
        numbers |= {
            f"{work}_seconds": seconds,
            f"{work}_tokens_per_second": rows * length / seconds,
        }
        if least is not None:
            numbers[f"{work}_roofline"] = least[work] / seconds
    return numbers


def least_seconds(
    job: Job, config: TrainConfig, shape: ModelShape, rows: int, length: float
) -> dict[str, float] | None:
    """Return the least seconds to sample and to train on ``rows`` responses of ``length`` tokens; None without speeds.

    Counts the operations of forward and backward passes and, for sampling, the reads of weights and cache.
    """
    if not (job.tflops and job.gbytes):
        return None
    table = shape.embedding_parameters  # looked up, not multiplied
    weights = shape.parameters - (0 if shape.tied else table)
    attention = 4 * shape.layers * shape.query_width * length / 2
    forward = rows * length * (2 * weights + attention)
    batches = config.loss.mini_batches
    passes = 3 + (config.kl.coefficient > 0) + config.model.gradient_checkpointing
    cache = 2 * 2 * shape.layers * shape.kv_width * rows * length / 2
    read = length * (2 * weights + cache)
    speed, copy = job.tflops * 1e12, job.gbytes * 1e9
    return {
        "sampling": max(forward / speed, read / copy),
        "update": (passes + (batches - 1) / batches) * forward / speed,
    }


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    enums = {"stage": Stage(given["stage"]), "size": GpuSize(given["size"])}
    print(json.dumps(asdict(run_stage(Job(**(given | enums))))))
