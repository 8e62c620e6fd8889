from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner, Result

from prorl_cli.eval.app import app
from prorl_cli.eval.options import SAMPLING, option_keys
from prorl_cli.main import build_app
from prorl_common import NullProgress, UserError
from prorl_common.config import ConfigError
from prorl_evaluation import EvalSettings, evaluate, load_result
from prorl_evaluation.config import load_eval_config
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

SMALL = ["--k", "2", "--n", "4", "--set", "sampling.max_tokens=4", "--set", "model.device=cpu"]


def eval_command(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", *arguments])


def mistake(outcome: Result) -> str:
    """Return the message of the user error that ended a command."""
    error = outcome.exception
    assert isinstance(error, UserError), repr(error)
    assert "\n" not in str(error)
    return str(error)


def fails(*arguments: str) -> str:
    return mistake(eval_command(*arguments))


def test_bare_evaluates_the_newest_run_and_its_base_then_compares_regrades_and_reports(
    workplace: Path,
) -> None:
    done = eval_command("pass-at-k", *SMALL, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert [r["settings"]["label"] for r in value["results"]] == ["base tiny0", "demo step 12"]
    assert value["comparison"]["paired"] == 5
    assert "models: base tiny0, demo step 12" in done.stderr
    assert "samples: 40 in all" in done.stderr
    assert "trained on another dataset" in done.stderr
    base, step = sorted((workplace / "runs" / "demo" / "eval").iterdir())
    assert base.name.startswith("base-") and step.name.startswith("step_000012-")

    before = (base / "samples.jsonl").read_bytes()
    assert eval_command("pass-at-k", *SMALL).exit_code == 0
    assert (base / "samples.jsonl").read_bytes() == before

    compared = eval_command("compare", str(base), str(step), "--html", "c.html")
    assert compared.exit_code == 0 and "too few to say" in " ".join(compared.stdout.split())
    assert Path("c.html").is_file()
    regraded = eval_command("regrade", str(step), "--json")
    assert json.loads(regraded.stdout)["changed"] == 0
    report = eval_command("compare", "demo", "--html", "report.html")
    assert report.exit_code == 0, report.output
    assert '"opens": "demo-eval"' in Path("report.html").read_text()


def test_one_model_goes_to_evals_and_out_names_the_folder(workplace: Path) -> None:
    base = str((workplace / "runs/demo/checkpoints/step_000012/policy").resolve())
    done = eval_command("pass-at-k", "--model", base, *SMALL, "--limit", "2", "--out", "mine")
    assert done.exit_code == 0, done.output
    assert "pass@2" in done.stdout and "difference" not in done.stdout
    assert (
        json.loads(Path("mine/result.json").read_text())["settings"]["dataset"]["split"] == "test"
    )


def test_an_interruption_says_how_to_go_on_and_exits_130(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> FakeGenerator:
        return FakeGenerator(interrupt_at=1)

    monkeypatch.setattr("prorl_evaluation.sampling.session.LazyGenerator", interrupted)
    done = eval_command("pass-at-k", *SMALL)
    assert done.exit_code == 130
    assert "run the same command again" in done.stderr


def test_an_evaluation_too_small_for_a_gain_says_so_before_it_samples(workplace: Path) -> None:
    outcome = eval_command("pass-at-k", "--checkpoint", "base", *SMALL, "--limit", "4")
    assert outcome.exit_code == 0, outcome.output
    said = " ".join(outcome.stderr.split())
    assert "4 problems with n = 4: a true gain of 0.1 in pass@1 would be seen in" in said
    assert said.index("a true gain of 0.1") < said.index("written to")
    assert "these very problems, sampled again" in " ".join(outcome.stdout.split())


def test_k_near_n_is_warned_of_loudly_and_once(workplace: Path) -> None:
    done = eval_command(
        "pass-at-k", "--k", "4", "--n", "4", "--set", "sampling.max_tokens=2", "--limit", "1"
    )
    assert done.stderr.count("WARNING: k = 4 is more than half of n = 4") == 1


def test_nothing_to_evaluate_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "prorl train" in fails("pass-at-k")
    assert "prorl data build" in fails("pass-at-k", "--model", "x")


def test_a_device_that_torch_does_not_know_names_those_there_are(workplace: Path) -> None:
    for device in ("gpu", "cuda:", "cuda:x", ""):
        said = fails("pass-at-k", "--set", f"model.device='{device}'")
        assert f"device '{device}'" in said and "auto, cpu, cuda or cuda:1" in said


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (
            ["--set", "server.model=tiny", "--set", "server.key_env=NOPE"],
            "server.model, server.key_env",
        ),
        (["--set", "server.concurrency=4"], "server.concurrency"),
        (["--set", "server.price=1,2"], "server.price"),
    ],
)
def test_options_of_a_server_without_its_address_are_a_mistake(
    workplace: Path, given: list[str], named: str
) -> None:
    said = fails("pass-at-k", *SMALL, *given)
    verb = "are" if "," in named else "is"
    assert said.startswith(f"{named} {verb} given without server.url: add --set server.url=http://")
    assert not list(workplace.rglob("samples.jsonl"))


# ``prorl eval compare``: several results, claims, extras, Markdown and JSON


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three results of one model that improves: 5 %, 30 % and 80 % right."""
    root = tmp_path_factory.mktemp("results")
    samples = [*make_samples(15), *make_samples(12, "stem")]
    for percent in (5, 30, 80):
        settings = EvalSettings(n=16, k=8, draws=400, label=f"m{percent}")
        generator = FakeGenerator(model_digest=f"d{percent}", percent=percent)
        out = root / f"m{percent}"
        evaluate(generator, samples, settings, out, FakeScorer(), NullProgress())
    return [str(root / f"m{percent}") for percent in (5, 30, 80)]


def compare_command(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", "compare", *arguments])


def test_three_results_are_compared_with_the_first_and_claims_are_made(folders: list[str]) -> None:
    done = compare_command(*folders)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "m30 against m5, 27 paired problems" in text
    assert "m80 against m5, 27 paired problems" in text
    assert "Boundary against m5: Holm over 21 candidate claims at 0.05" in text
    assert "sustained" in text and "Generated tokens an answer" in text and "by luck" in text


def test_a_run_is_compared_with_its_checkpoint_from_before_rl(
    folders: list[str], tmp_path: Path
) -> None:
    run = tmp_path / "warm"
    run.mkdir()
    (run / "config.yaml").write_text("{}")
    for slug, folder in zip(("base", "step_000000", "step_000009"), folders, strict=True):
        shutil.copytree(folder, run / "eval" / f"{slug}-1")
    before_rl = run / "eval/step_000000-1/result.json"
    before_rl.write_text(before_rl.read_text().replace('"m30"', '"warm step 0 (before RL)"'))
    done = compare_command(str(run), "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert [c["a"] for c in value["comparisons"]] == ["warm step 0 (before RL)"]
    assert value["boundary"]["labels"] == ["warm step 0 (before RL)", "m80"]


def test_json_holds_comparisons_claims_and_what_was_asked_for(folders: list[str]) -> None:
    done = compare_command(*folders, "--json", "--set", "comparison.false_positive_rate=0.005")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert [c["b"] for c in value["comparisons"]] == ["m30", "m80"]
    assert value["boundary"]["labels"] == ["m5", "m30", "m80"]
    assert value["boundary"]["groups"][0]["claims"][0]["regime"] == "sustained"
    assert value["false_positives"][0]["rows"][-1]["unsolvable_reads"] == pytest.approx(
        0.0393, abs=1e-4
    )


def test_markdown_holds_every_table(folders: list[str], tmp_path: Path) -> None:
    done = compare_command(*folders[:2], "--md", str(tmp_path / "t.md"), "--k", "4")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "t.md").read_text()
    for words in ("**m5, n = 16", "| claim |", "pass@4"):
        assert words in page, words


def test_a_k_near_n_is_warned_of_beside_the_tables(folders: list[str]) -> None:
    done = compare_command(*folders[:2], "--k", "12")
    assert "WARNING: pass@12 from n = 16 samples is little more than" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": 1, "k": 1}, r"n differs \(16: m5; 1: other\)"),
        ({"temperature": 0.0}, r"temperature differs \(0.6: m5; 0: other\)"),
        ({"top_p": 0.5}, r"top_p differs \(0.95: m5; 0.5: other\)"),
        ({"max_tokens": 9}, r"max_tokens differs \(512: m5; 9: other\)"),
        ({"extra": {"top_k": 5}}, r"request fields differs \(\{\}: m5; \{'top_k': 5\}: other\)"),
        ({"dataset": {"manifest_sha256": "f" * 64}}, r"dataset differs \(.*of ffffffff: other\)"),
    ],
)
def test_results_that_were_not_sampled_alike_are_refused_with_both_values(
    folders: list[str], tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    wanted: dict[str, Any] = {"n": 16, "k": 8, "draws": 400, "label": "other", **change}
    samples = [*make_samples(15), *make_samples(12, "stem")]
    generator = FakeGenerator(model_digest="other", percent=80)
    evaluate(
        generator, samples, EvalSettings(**wanted), tmp_path / "x", FakeScorer(), NullProgress()
    )
    names = [folders[0], str(tmp_path / "x")]
    done = CliRunner().invoke(build_app(), ["eval", "compare", *names])
    assert isinstance(done.exception, UserError)
    assert re.search(says, str(done.exception)) and "comparison.any_sampling" in str(done.exception)
    assert compare_command(*names, "--set", "comparison.any_sampling=true").exit_code == 0


def test_mistakes_in_a_comparison_are_one_line_with_the_cure(folders: list[str]) -> None:
    for arguments, words in (
        ((folders[0],), "two or more results"),
        ((*folders[:2], "--set", "comparison.cluster=domain"), "use problem or task"),
        ((*folders[:2], "--k", "99"), "use 1 to 16"),
    ):
        error = compare_command(*arguments).exception
        assert isinstance(error, UserError) and words in str(error)
        assert "\n" not in str(error)


def test_set_makes_the_settings_of_a_comparison(folders: list[str]) -> None:
    settings = ("alpha=0.02", "margin=0.2", "k=4")
    words = [word for value in settings for word in ("--set", f"comparison.{value}")]
    done = compare_command(*folders[:2], *words, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    claims = value["boundary"]
    assert (claims["alpha"], claims["margin"], claims["k"]) == (0.02, 0.2, 4)
    wrong = compare_command(*folders[:2], "--set", "comparison.aplha=0.1").exception
    assert isinstance(wrong, UserError) and "did you mean 'comparison.alpha'" in str(wrong)


# ``prorl data rate`` from end to end with a tiny real model, and its complaints


SMALL_RATING = ["--split", "test", "--set", "sampling.max_tokens=4", "--set", "model.device=cpu"]


def rate_command(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["data", "rate", *arguments])


def rate_fails(*arguments: str) -> str:
    return mistake(rate_command(*arguments))


@pytest.fixture
def model(tiny_models: tuple[Path, Path]) -> str:
    return str(tiny_models[0])


def test_a_dataset_is_rated_and_shown_again_without_the_model(workplace: Path, model: str) -> None:
    card = workplace / "data" / "small" / "README.md"
    card.write_text("# small\n")
    done = rate_command("data/small", "--model", model, "--samples", "2", *SMALL_RATING, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert (value["rows"], value["rated"]) == (5, 5)
    assert [g["name"] for g in value["groups"]] == [
        ["overall"],
        ["math"],
        ["stem"],
        ["math", "test"],
        ["stem", "test"],
    ]
    assert "5 rows · 2 samples · temperature 1 · top-p 1 · at most 4 tokens" in done.stderr
    folder = workplace / "data" / "small.ratings"
    rates = [json.loads(line) for line in (folder / "pass_rates.jsonl").read_text().splitlines()]
    assert [(r["id"], r["n"]) for r in rates] == [(f"math-{i}", 2) for i in range(3)] + [
        (f"stem-{i}", 2) for i in range(2)
    ]
    assert "Pass rates of 5 of 5 rows" in card.read_text()

    shown = rate_command("--split", "test", "--suggest")
    assert shown.exit_code == 0, shown.output
    assert "overall" in shown.stdout and "Sizes for a pass rate from 0.1 to 0.9" in shown.stdout
    further = rate_command(
        "data/small",
        "--model",
        model,
        "--samples",
        "2",
        *SMALL_RATING,
        "--set",
        "sampling.temperature=0.5",
    )
    assert further.exit_code == 0, further.output
    assert "has ratings of 2 policies" in rate_fails("--split", "test")


def test_an_evaluation_of_the_same_model_leaves_nothing_to_sample(
    workplace: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = [
        "--set", "sampling.max_tokens=4", "--set", "model.device=cpu", "--set",
        "sampling.temperature=1", "--set", "sampling.top_p=1",
    ]  # fmt: skip
    evaluated = CliRunner().invoke(
        build_app(),
        ["eval", "pass-at-k", "--model", model, "--k", "1", "--n", "2", "--out", "e", *how],
    )
    assert evaluated.exit_code == 0, evaluated.output
    monkeypatch.setattr(
        "prorl_evaluation.sampling.sampler.LazyGenerator.prepare",
        lambda self: pytest.fail("the model was loaded"),
    )
    done = rate_command("--from-eval", "e", "--model", model, "--samples", "2", *SMALL_RATING)
    assert done.exit_code == 0, done.output
    assert "e: 10 samples" in done.stderr
    assert "5 of 5 rows have 2 samples already" in done.stderr


def test_an_interruption_says_how_to_go_on_and_the_same_call_does(
    workplace: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> FakeGenerator:
        return FakeGenerator(interrupt_at=1)

    with monkeypatch.context() as patched:
        patched.setattr("prorl_evaluation.sampling.session.LazyGenerator", interrupted)
        done = rate_command("--model", model, "--samples", "1", *SMALL_RATING)
        assert done.exit_code == 130
        assert "run the same command again" in done.stderr
    done = rate_command("--model", model, "--samples", "1", *SMALL_RATING)
    assert done.exit_code == 0, done.output


def test_mistakes_in_a_rating_are_one_line_with_the_cure(workplace: Path) -> None:
    assert "has no ratings: make some with --model" in rate_fails("--split", "test")
    assert not (workplace / "data" / "small.ratings").exists()
    recipe = ("--recipe-out", "tuned.yaml", "--split", "test")
    assert "--recipe-out needs --suggest" in rate_fails(*recipe)
    assert "no such dataset folder: nowhere" in rate_fails("nowhere", "--suggest", *recipe)
    assert "--band is '0.9'" in rate_fails("--band", "0.9", "--split", "test")
    assert "--band is '0.9,0.1'" in rate_fails("--band", "0.9,0.1", "--split", "test")
    assert "--steps needs --from-run RUN" in rate_fails("--steps", "1-2", "--split", "test")
    assert "--steps is '12'" in rate_fails("--from-run", "demo", "--steps", "12", "--split", "test")
    assert "demo has no rollouts" in rate_fails("--from-run", "demo", "--split", "test")
    assert "not an evaluation folder" in rate_fails("--from-eval", "runs", "--split", "test")
    assert "holds no train" in rate_fails("data/small")


# ``prorl eval run`` from end to end with a tiny real model, and its complaints


SMALL_SUITE = [
    "--limit", "1", "--n", "2", "--set", "sampling.max_tokens=2", "--set", "model.device=cpu",
]  # fmt: skip


def run_command(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", "run", *arguments])


def run_fails(*arguments: str) -> str:
    return mistake(run_command(*arguments))


@pytest.fixture
def faked(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory with fake models."""
    monkeypatch.setattr(
        "prorl_evaluation.sampling.session.LazyGenerator", lambda *_: FakeGenerator()
    )
    return workplace


@pytest.mark.slow
def test_bare_runs_the_whole_quickstart_on_the_newest_run_and_its_base(workplace: Path) -> None:
    done = run_command(
        *SMALL_SUITE, "--benchmarks", "quick_math,quick_stem,quick_instruction,quick_logic"
    )
    assert done.exit_code == 0, done.output
    assert "models: base tiny0, demo step 12" in done.stderr
    assert "demo step 12 minus base tiny0" in " ".join(done.stdout.replace("│", " ").split())
    root = workplace / "runs" / "demo" / "suites"
    assert len(list(root.glob("*/*/result.json"))) == 8
    (saved,) = root.glob("suite-quickstart-*.json")
    journals = {p: p.read_bytes() for p in root.rglob("samples.jsonl")}

    names = "quick_math,quick_stem,quick_instruction,quick_logic"
    again = run_command(*SMALL_SUITE, "--benchmarks", names, "--html", "suite.html")
    assert again.exit_code == 0 and "page written: suite.html" in again.stderr
    page = Path("suite.html").read_text()
    assert "quick_math/" in page and "prorl eval run --suite quickstart --model" in page
    assert {p: p.read_bytes() for p in root.rglob("samples.jsonl")} == journals
    assert list(root.glob("suite-quickstart-*.json")) == [saved]


def test_a_missing_column_and_a_missing_file_leave_dashes_with_their_cure(
    faked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(faked / "empty"))
    mirror = faked / "mirror"
    mirror.mkdir()
    rows = [{"id": i, "problem": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(3)]
    text = "".join(json.dumps(r) + "\n" for r in rows)
    (mirror / "aime_2024.jsonl").write_text(text)
    (mirror / "amc.jsonl").write_text(text.replace('"answer"', '"gold"'))
    names = "aime_2024,amc,aime_2025"
    options = ["--suite", "prorl", "--benchmarks", names, "--mirror", str(mirror)]
    done = run_command(*options, "--model", "tiny", *SMALL_SUITE, "--out", "mine")
    if isinstance(done.exception, UserError):  # the fake needs a model folder, too
        done = run_command(*options, *SMALL_SUITE, "--out", "mine")
    assert done.exit_code == 2, done.output
    page = next(Path("mine").glob("*.md")).read_text()
    assert "| base (card) | 28.54 | 22.71 | 62.58 |" in page
    assert "finds no column for 'answer'" in page and "columns here" in done.stderr
    assert "aime_2025" in page and "give --mirror DIR" in done.stderr
    assert "your sampling is not that of (card): n 2 where they had 16" in page
    assert len(list((faked / "mine").glob("*/aime_2024-*/result.json"))) == 2
    assert "2 benchmarks failed" in done.stderr


def test_a_suite_of_ones_own_takes_its_sampling_from_its_file(faked: Path) -> None:
    Path("own.yaml").write_text(
        "name: own\ntitle: Own\nsampling: {n: 3, max_tokens: 5}\n"
        "benchmarks: [{name: sums, domain: math, families: [add], count: 2}]\n"
    )
    done = run_command("--suite", "own.yaml", "--json", "--set", "model.device=cpu")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert value["settings"]["n"] == 3 and value["settings"]["max_tokens"] == 5
    assert value["benchmarks"] == ["sums"] and value["published"] == []
    named = run_command(
        "--suite", "own.yaml", "--json", "--set", "sampling.protocol=justrl", "--n", "1"
    )
    assert json.loads(named.stdout)["settings"]["temperature"] == 0.7


def test_an_interrupted_suite_says_how_to_go_on_and_exits_130(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> FakeGenerator:
        return FakeGenerator(interrupt_at=1)

    monkeypatch.setattr("prorl_evaluation.sampling.session.LazyGenerator", interrupted)
    done = run_command(*SMALL_SUITE, "--benchmarks", "quick_math")
    assert done.exit_code == 130 and "run the same command again" in done.stderr


def test_the_list_says_what_each_benchmark_needs() -> None:
    rows = json.loads(run_command("--list", "--json").stdout)
    needs = {(r["suite"], r["benchmark"]): r["needs"] for r in rows}
    assert needs["prorl", "gpqa_diamond"] == "the hub and its terms"
    assert needs["prorl", "aime_2024"] == "the hub or --mirror"
    assert {n for (suite, _), n in needs.items() if suite != "prorl"} == {"nothing"}
    assert "ladder_boxnet" in run_command("--list").stdout


def test_mistakes_in_a_suite_are_one_line_with_the_cure(workplace: Path) -> None:
    assert "did you mean 'prorl'?" in run_fails("--suite", "prorll")
    assert "has no benchmark 'quick_maths'" in run_fails(
        "--benchmarks", "quick_maths", *SMALL_SUITE
    )
    assert "known: prorl, boundary, justrl" in run_fails("--set", "sampling.protocol=nobody")
    own = ("--benchmarks", " , ", *SMALL_SUITE)
    assert "--benchmarks names no benchmark; suite quickstart has quick_math" in run_fails(*own)
    assert "use auto, cpu, cuda" in run_fails(
        "--benchmarks", "quick_math", "--set", "model.device=gpu"
    )
    assert "server.model is given without server.url" in run_fails("--set", "server.model=tiny")


# The settings of an evaluation: file, options, ``--set``, and what is stored


SMALL_FILE = "sampling: {k: 2, n: 4, max_tokens: 4}\ndata: {limit: 2}\nmodel: {device: cpu}\n"


def test_set_wins_over_an_option_and_an_option_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "eval.yaml"
    file.write_text("sampling: {n: 4, k: 2, temperature: 0.1}\n")
    config = load_eval_config(file, {"sampling.n": 8, "sampling.k": 4}, ["sampling.n=16"])
    s = config.sampling
    assert (s.n, s.k, s.temperature) == (16, 4, 0.1)


def test_every_mistake_is_in_one_line_with_the_nearest_key() -> None:
    with pytest.raises(ConfigError) as caught:
        load_eval_config(None, {}, ["sampling.temprature=1", "scoring.workers=0", "modle.run=a"])
    line = str(caught.value)
    assert line.count("\n") == 3 and "did you mean 'sampling.temperature'" in line
    assert "scoring.workers" in line and "did you mean 'model'" in line
    for wrong, said in (("sampling.n", "sampling.n=64"), ("sampling.n.x=1", "not a section")):
        with pytest.raises(ConfigError, match=said):
            load_eval_config(None, {"sampling.n": 2}, [wrong])


DISPLAY = {"json_out", "html", "md", "listed", "config", "overrides"}


@pytest.mark.parametrize(
    ("verb", "sections", "other"),
    [
        ("pass-at-k", SAMPLING, set()),
        ("run", SAMPLING, set()),
        ("compare", ["comparison"], {"names"}),
        ("novelty", ["novelty"], {"results"}),
        ("regrade", ["scoring", "output"], {"folder"}),
    ],
)
def test_every_option_writes_a_key_of_the_tree_which_alone_has_defaults(
    verb: str, sections: Sequence[str], other: set[str]
) -> None:
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    keys = option_keys(sections)
    for option in command.params:
        if option.name in DISPLAY | other:
            continue
        assert option.name in keys and option.default is None, option.name


def test_an_evaluation_keeps_its_settings_which_give_the_same_one_again(workplace: Path) -> None:
    Path("mine.yaml").write_text(SMALL_FILE)
    words = ["eval", "pass-at-k", "--checkpoint", "base", "--config", "mine.yaml", "--out"]
    done = CliRunner().invoke(build_app(), [*words, "a", "--set", "sampling.seed=3"])
    assert done.exit_code == 0, done.output
    kept = yaml.safe_load(Path("a/eval.yaml").read_text())
    assert (kept["sampling"]["seed"], kept["model"]["checkpoints"]) == (3, ["base"])
    again = CliRunner().invoke(
        build_app(), ["eval", "pass-at-k", "--config", "a/eval.yaml", "--out", "b"]
    )
    assert again.exit_code == 0, again.output
    first, second = load_result(Path("a")), load_result(Path("b"))
    assert (first.settings, first.problems) == (second.settings, second.problems)
