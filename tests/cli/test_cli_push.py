from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from doubles import invoke, write_model
from hub_faults import Status
from hub_server import TOKEN, FakeHub
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import NullProgress, ServiceError, UserError
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import model_digest
from prorl_training.config.loading import load_config
from prorl_training.publishing.facts import base_model
from prorl_training.run.checkpoint import checkpoint_path, mark_best, seal
from prorl_training.run.folder import RunFolder
from prorl_training.run.resume import dataset_fingerprint
from prorl_training.types import Decision, DecisionKind

library = pytest.importorskip("huggingface_hub")
# the hub's own client hands bytes to its transport in an outdated way
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

CANARIES = (
    "canary", "hf_CANARYcanary1", "sk-CANARYcanary123", "10.9.8.7", "canary.internal", TOKEN,
    "math question", "yes -", "no -", "yes 1", "no 1",
)  # fmt: skip
"""Strings that no pushed file may contain: our folders and names, tokens, hosts, a prompt, starts of answers."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model, whose path is private."""
    path = tmp_path_factory.mktemp("canary") / "canary-model"
    write_model(path)
    values = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**values, "_name_or_path": str(path)}))
    (path / "note.txt").write_text("canary")
    return path


@pytest.fixture
def run(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run under ./runs with checkpoints of steps 0, 2 and 4, the best at 2, full of canaries."""
    here = tmp_path / "canary home"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("CANARY_API_KEY", "canary-key-of-another-service")
    folder = RunFolder(Path("runs/one"))
    private = [
        f"model.path={model}", f"data.path={here}/canary-data", "data.pass_rates=canary/rates.jsonl",
        "logging.wandb_project=canary",
        "openrlhf.ray_address=ray://canary.internal:10001", "kl.coefficient=0.25", "steps=10",
    ]  # fmt: skip
    folder.create(load_config("cpu", overrides=private), {"dataset": "ab" * 32, "model": "cd" * 32})
    for step in (1, 2, 3, 4):
        extra = {"validation_reward": step / 8} if step % 2 == 0 else {}
        folder.log_metrics(
            {"step": step, "tokens_total": 100 * step, "kl": math.nan, "word": "canary", **extra}
        )
    told: list[tuple[DecisionKind, str]] = [
        ("reference_reset", "2 steps since the last reset"),
        (
            "outage",
            f"http://canary.internal:8000 and 10.9.8.7:22 said hf_CANARYcanary1 of {here}/canary x",
        ),
        ("config_changed", f"data.path {here}/canary-data -> canary/elsewhere"),
        ("run_stopped", "sk-CANARYcanary123 and canary-key-of-another-service in ~/canary/x.py"),
    ]
    folder.log_decisions(
        [
            Decision(
                number + 1,
                kind,
                text,
                {"changed": {"data.path": ["a", "canary/x"]}} if number == 2 else {},
            )
            for number, (kind, text) in enumerate(told)
        ]
    )
    leg = {
        "after_step": 0, "stage": None, "preset": "cpu", "engine": "local", "source": str(model),
        "weights": "cd" * 32,
    }  # fmt: skip
    for step in (0, 2, 4):
        path = checkpoint_path(folder.checkpoints, step)
        shutil.copytree(model, path / "policy")
        (path / "policy" / "LICENSE").write_text(str(step))
        (path / "state.json").write_text(json.dumps({"step": step, "lineage": [leg]}))
        seal(path)
    mark_best(folder.checkpoints, 2)
    return folder


def prorl(*words: str) -> Any:
    return invoke("push", *words)


def planned(*words: str) -> dict[str, Any]:
    """Return the JSON of a dry run."""
    found: dict[str, Any] = json.loads(prorl(*words, "--dry-run", "--json").stdout)
    return found


def pushed(hub: FakeHub, repo: str = "me/small") -> dict[str, bytes]:
    """Return the files in the model's repository."""
    held = hub.repos[f"models/{repo}"]
    return held.commits[held.branches["main"]]


def evaluated(out: Path, digest: str, percent: int, label: str) -> None:
    """Write an evaluation of 12 problems with 8 samples each."""
    settings = EvalSettings(
        n=8, k=4, draws=100, label=label, dataset={"path": "/canary/d", "split": "test"},
        extra={"api_key": "sk-CANARYcanary123"},
    )  # fmt: skip
    generator = FakeGenerator("/canary/canary-model", digest, percent)
    evaluate(generator, make_samples(12), settings, out, FakeScorer(), NullProgress())


def front(card: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(card[4:].partition("\n---\n")[0])
    return found


def test_a_push_has_the_hubs_layout_and_the_runs_record(writer: FakeHub, run: RunFolder) -> None:
    prorl("one", "me/small", "--private")
    files = pushed(writer)
    assert sorted(files) == [
        ".gitattributes", "LICENSE", "README.md", "chat_template.jinja", "config.json",
        "generation_config.json", "model.safetensors", "prorl_lineage.json", "tokenizer.json", "tokenizer_config.json",
        "training/config.yaml", "training/decisions.jsonl", "training/identity.json",
        "training/metrics.jsonl",
    ]  # fmt: skip
    policy = checkpoint_path(run.checkpoints, 4) / "policy"
    assert files["model.safetensors"] == (policy / "model.safetensors").read_bytes()
    assert files["LICENSE"] == b"4" and writer.repos["models/me/small"].private
    assert json.loads(files["prorl_lineage.json"])["step"] == 4
    rows = [json.loads(line) for line in files["training/metrics.jsonl"].splitlines()]
    assert rows[1] == {"step": 2, "tokens_total": 200, "kl": None, "validation_reward": 0.25}


def test_what_goes_up_holds_no_path_token_host_prompt_or_answer(
    writer: FakeHub, run: RunFolder
) -> None:
    digest = model_digest(checkpoint_path(run.checkpoints, 4) / "policy")
    evaluated(run.path / "eval" / "base-1", "d0", 20, "base canary-model")
    evaluated(run.path / "eval" / "step_000004-1", digest, 60, "one step 4")
    (run.path / "rollouts").mkdir()
    (run.path / "rollouts" / "step_000001.parquet").write_bytes(b"canary")
    prorl("one", "me/small")
    for name, data in pushed(writer).items():
        text = data.decode("utf-8", "ignore")
        if not name.endswith((".safetensors", "tokenizer.json")):
            assert [c for c in CANARIES if c in text] == [], name
        assert str(Path.cwd()) not in text and str(run.path) not in text


def test_the_pushed_settings_are_a_config_that_trains_alike(
    writer: FakeHub, run: RunFolder, tmp_path: Path
) -> None:
    prorl("one", "me/small")
    (tmp_path / "c.yaml").write_bytes(pushed(writer)["training/config.yaml"])
    found, own = load_config(None, tmp_path / "c.yaml"), run.config()
    assert found.kl == own.kl and found.steps == own.steps and found.preset == own.preset
    kept = found.model_dump(exclude={"model", "data", "logging", "openrlhf"})
    assert kept == own.model_dump(exclude={"model", "data", "logging", "openrlhf"})


def test_a_checkpoint_is_chosen_as_for_an_export(run: RunFolder, hub: FakeHub) -> None:
    for which, step in (("latest", 4), ("best", 2), ("0", 0)):
        card = planned("one", "me/small", "--checkpoint", which)["card"]
        assert f"run `one` after step {step} |" in card
    with pytest.raises(UserError, match="has no checkpoint of step 3; it has: 0, 2, 4"):
        planned("one", "me/small", "--checkpoint", "3")
    with pytest.raises(UserError, match="use latest, best or the number of a step"):
        planned("one", "me/small", "--checkpoint", "newest")


def test_decisions_and_numbers_after_the_step_are_left_out(run: RunFolder, hub: FakeHub) -> None:
    card = planned("one", "me/small", "--checkpoint", "2")["card"]
    assert "| reference reset | 1 | step 1: 2 steps since the last reset |" in card
    assert "run stopped" not in card and "0.250 after step 2" in card and "sampled | 200 |" in card
    assert "| run stopped | 1 |" in planned("one", "me/small")["card"]


def test_the_card_says_how_it_was_trained(run: RunFolder, hub: FakeHub) -> None:
    card = planned("one", "me/small")["card"]
    assert "| `kl.coefficient` | 0.0001 | 0.25 |" in card
    assert "files (SHA-256) | `abababababab` |" in card and "| steps | 4 of 10 |" in card
    assert "licence | not known here |" in card
    assert "license" not in front(card) and "base_model" not in front(card)
    assert front(planned("one", "me/small", "--license", "mit")["card"])["license"] == "mit"


def test_the_card_names_the_datasets_recipe_domains_and_sources(
    run: RunFolder, hub: FakeHub
) -> None:
    folder = Path(run.config().data.path or "")
    folder.mkdir()
    manifest = {
        "files": {}, "recipe": "prorl-136k", "counts": {"train": {"math": 1200, "code": 30}, "test": {}},
        "entries": [
            {"source": "agentica-org/DeepScaleR-Preview-Dataset", "licence": "MIT"},
            {"source": "procedural/add", "licence": "CC0-1.0"}, {"source": "file/canary", "licence": "x"},
        ],
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    identity = {"dataset": dataset_fingerprint(folder)}
    run.identity_path.write_text(json.dumps(identity))
    card = planned("one", "me/small")["card"]
    assert "| dataset | recipe `prorl-136k` |" in card and "| math | 1,200 |" in card
    assert front(card)["datasets"] == ["agentica-org/DeepScaleR-Preview-Dataset"]
    assert {"math", "code"} < {*front(card)["tags"]} and "canary" not in card
    assert "prorl data build --recipe prorl-136k --out data/prorl-136k\n" in card
    run.identity_path.write_text(json.dumps({"dataset": "of another dataset"}))
    assert "prorl-136k" not in planned("one", "me/small")["card"]


def test_the_base_models_name_and_licence_are_told_where_they_are_known(
    run: RunFolder, hub: FakeHub, model: Path
) -> None:
    card = model / "README.md"
    card.write_text("---\nlicense: mit\n---\n# canary\n")
    try:
        shown = planned("one", "me/small")["card"]
    finally:
        card.unlink()
    assert front(shown)["license"] == "mit" and "# canary" not in shown
    known = base_model("smollm2-135m", None)
    assert (known.name, known.licence) == ("HuggingFaceTB/SmolLM2-135M-Instruct", "apache-2.0")
    assert base_model("Qwen/Qwen2.5-1.5B", None).name == "Qwen/Qwen2.5-1.5B"


def test_a_run_with_settings_of_another_version_is_pushed(run: RunFolder, hub: FakeHub) -> None:
    text = run.config_path.read_text().replace("plugins: []", "plugins: [/canary/parts.py]")
    run.config_path.write_text(f"{text}gone_setting: 3\n")
    card = planned("one", "me/small")["card"]
    assert "What differs from the preset is not known here" in card and "4 of 10" in card
    assert "canary" not in card


def test_without_an_evaluation_the_card_says_so_and_has_no_numbers(
    run: RunFolder, hub: FakeHub
) -> None:
    evaluated(run.path / "eval" / "step_000002-1", "of other weights", 60, "one step 2")
    card = planned("one", "me/small")["card"]
    assert "None: these weights after step 4 were not evaluated" in card
    assert "model-index" not in front(card) and "pass@" not in card


def test_an_evaluation_stands_in_card_and_model_index_with_its_intervals(
    run: RunFolder, hub: FakeHub
) -> None:
    digest = model_digest(checkpoint_path(run.checkpoints, 4) / "policy")
    evaluated(run.path / "eval" / "base-1", "d0", 20, "base model")
    evaluated(run.path / "eval" / "step_000004-1", digest, 60, "one step 4")
    shown = planned("one", "me/small")
    card = shown["card"]
    assert (
        "Boundary at pass@4, one step 4: " in card and "12 paired problems, 8 samples each" in card
    )
    assert {"evaluation/1-1-base-model.json", "evaluation/1-2-one-step-4.json", "evaluation/1-boundary.json"} < {
        *shown["files"]
    }  # fmt: skip
    read = library.ModelCard(card).data.eval_results
    assert [r.metric_type for r in read] == ["pass@1", "pass@4", "pass@8"]
    assert {(r.task_type, r.dataset_split) for r in read} == {("text-generation", "test")}
    assert "(n = 8, 12 problems, 95% interval 0." in read[0].metric_name


def test_weights_of_an_earlier_push_are_removed_and_other_files_stay(
    writer: FakeHub, run: RunFolder
) -> None:
    old = {
        "model-00001-of-00002.safetensors": b"x",
        "evaluation/1-old.json": b"x",
        "notes.md": b"m",
    }
    writer.put("models/me/small", old)
    prorl("one", "me/small")
    assert not {"model-00001-of-00002.safetensors", "evaluation/1-old.json"} & {*pushed(writer)}
    assert pushed(writer)["notes.md"] == b"m"


def test_a_push_that_broke_off_is_given_again_and_sends_the_weights_once(
    writer: FakeHub, run: RunFolder
) -> None:
    writer.plan.by_path["/api/models/me/small/commit/main"] = [Status(400)]
    with pytest.raises(ServiceError, match=r"the push to me/small failed .*try again"):
        prorl("one", "me/small")
    assert sorted(pushed(writer)) == [".gitattributes"]
    prorl("one", "me/small")
    assert "model.safetensors" in pushed(writer)
    assert [seen.method for seen in writer.seen].count("PUT") == 1


def test_a_dry_run_shows_files_and_card_and_asks_nobody(hub: FakeHub, run: RunFolder) -> None:
    result = prorl("one", "me/small", "--dry-run")
    assert "model.safetensors" in result.stdout and "\n# small\n" in result.stdout
    assert "not evaluated, and the card says so" in result.output
    assert not hub.seen


def test_a_models_folder_is_pushed_with_what_is_known(run: RunFolder, hub: FakeHub) -> None:
    exported = CliRunner().invoke(build_app(), ["train", "export", "one", "--out", "out"])
    assert exported.exit_code == 0
    shown = planned("out", "me/small")
    assert (
        "run `one` after step 4 |" in shown["card"] and "preset cpu, engine local" in shown["card"]
    )
    assert not any(name.startswith("training/") for name in shown["files"])
    assert [c for c in CANARIES if c in shown["card"]] == []
    (Path("out") / "prorl_lineage.json").unlink()
    assert "The run is not known here." in planned("out", "me/small")["card"]
    (Path("out") / "tokenizer_config.json").write_text('{"about": "hf_CANARYcanary1"}')
    with pytest.raises(UserError, match="seems to contain a secret token"):
        planned("out", "me/small")


def test_results_of_other_weights_are_refused(run: RunFolder, hub: FakeHub) -> None:
    evaluated(Path("evals/x"), "of other weights", 60, "x")
    with pytest.raises(UserError, match=r"none of the results given .* belongs to these weights"):
        planned("one", "me/small", "--evaluation", "evals/x")


def test_mistakes_are_one_line_and_a_broken_hub_is_a_service_error(
    writer: FakeHub, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="is not a repository id: write it as owner/name"):
        prorl("one", "small")
    with pytest.raises(UserError, match="no run called 'two'"):
        prorl("two", "me/small")
    Path("empty").mkdir()
    with pytest.raises(UserError, match="is neither a run nor a model"):
        prorl("empty", "me/small")
    writer.plan.by_path["/api/validate-yaml"] = [Status(400)]
    with pytest.raises(UserError, match=r"rejects the push to me/small: Invalid metadata in"):
        prorl("one", "me/small", "--license", "no licence that the hub knows")
    writer.plan.by_path["/api/repos/create"] = [Status(400)]
    with pytest.raises(ServiceError, match=r"the push to me/small failed .*try again"):
        prorl("one", "me/small")
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(UserError, match=r"refuses the push to me/small \(HTTP 401\)"):
        prorl("one", "me/small")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(UserError, match="no token: set HF_TOKEN"):
        prorl("one", "me/small")
