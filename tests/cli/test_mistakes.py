"""User mistakes on the command line produce one line that says how to fix them, and exit code 2."""

from __future__ import annotations

import importlib.metadata
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prorl_cli.main import main
from prorl_common import NullProgress
from prorl_datasets import build, load_recipe

RECIPE = """
name: tiny
seed: 1
decontamination: {benchmarks: []}
entries:
  - {name: sums, domain: math, source: {kind: procedural, family: add, levels: [1]},
     count: {train: 6, validation: 2, test: 2}}
"""
FILES = {
    "empty.yaml": "",
    "list.yaml": "- 1\n- 2\n",
    "twice.yaml": "sampling: {n: 2}\nsampling: {n: 3}\n",
    "broken.yaml": "a: [1\n",
    "key.yaml": "steps: 3\nnothing: 1\n",
    "empty.jsonl": "",
    "broken.jsonl": '{"id": 1\n',
    "row.jsonl": '{"id": 1, "response": "x"}\n',
    "task.jsonl": '{"id": 1, "task": {"verifier": "math", "reference": {}}, "response": "x"}\n',
    "wrong.jsonl": '{"id": 1, "task": {"verifier": "maht", "reference": {}}, "response": "x"}\n',
    "right.jsonl": '{"id": 1, "task": {"verifier": "math", "reference": {"answer": "1"}}, "response": "1"}\n',
    "program.foo": "print(1)\n",
    "text.txt": "hello\n",
    "bad.py": "import nothing_of_that_name\n",
    "none.py": "x = 1\n",
}
CASES = [
    ("nothing", "no such command 'nothing'; see prorl --help"),
    ("train nothing", "no such command 'nothing'; see prorl train --help"),
    ("--nope", "no such option: --nope; see prorl --help"),
    (
        "train --step 3",
        "no such option: --step (Possible options: --help, --set, --steps); see prorl train --help",
    ),
    ("train --preset nope", "unknown preset 'nope'"),
    (
        "train --preset cpu --data nodata",
        "no such dataset: nodata; build one with: prorl data build",
    ),
    ("train --preset cpu --data text.txt", "text.txt is not a readable Parquet file"),
    (
        "train --preset cpu --data folder",
        "folder is not a dataset: it has no manifest.json; build one with: prorl data build",
    ),
    (
        "train --preset cpu --name ../x",
        "'../x' is no name for a run: use one word without /, and not latest",
    ),
    ("train --preset cpu --name a/b", "'a/b' is no name for a run"),
    ("train --preset cpu --name latest", "'latest' is no name for a run"),
    ("train --preset cpu --name ..", "'..' is no name for a run"),
    ("train --preset cpu --name .", "'.' is no name for a run"),
    (
        "train --preset cpu --model nomodel",
        "unknown model 'nomodel': give one of smollm2-135m, a folder with config.json and safetensors, or a hub id such as owner/name",
    ),
    ("train --preset cpu --model ./nomodel", "no such model folder: nomodel"),
    ("train --preset cpu --model folder", "folder is not a model folder: it has no config.json"),
    ("train --preset cpu --model a/b/c", "no such model folder: a/b/c"),
    (
        "train --preset cpu --device tpu",
        "device 'tpu' is not known: use auto, cpu, cuda or cuda:1 (a number)",
    ),
    (
        "train --preset cpu --device cuda:9",
        "device 'cuda:9' was asked for, but torch sees no GPU: use device=cpu",
    ),
    ("train --preset cpu --engine ray", "engine: must be 'local' or 'openrlhf' (got 'ray')"),
    ("train --preset cpu --set steps=0", "steps: must be at least 1 (got 0)"),
    (
        "train --preset cpu --steps x",
        "invalid value for '--steps': must be a whole number; see prorl train --help",
    ),
    (
        "train --preset cpu --set x",
        "--set x: write it as section.key=value, e.g. rollout.samples=8",
    ),
    ("train --preset cpu --set nothing=1", "unknown setting 'nothing'"),
    (
        "train --preset cpu --set rollout.promts=4",
        "unknown setting 'rollout.promts' (did you mean 'rollout.prompts'?)",
    ),
    (
        "train --preset cpu --set rollout.prompts=zero",
        "rollout.prompts: must be a whole number (got 'zero')",
    ),
    ("train --preset cpu --set rollout.prompts=-1", "rollout.prompts: must be at least 1 (got -1)"),
    ("train --preset cpu --set loss.name=ppo", "loss.name: unknown policy loss 'ppo'"),
    (
        "train --preset cpu --set kl.estimator=k9",
        "kl.estimator: unknown kl 'k9' (did you mean 'k3' or 'k2' or 'k1'?)",
    ),
    ("train --preset cpu --set loss.clip_low=-3", "loss.clip_low: must be above 0 (got -3)"),
    (
        "train --preset cpu --set rollout.temperature=-1",
        "rollout.temperature: must be above 0 (got -1)",
    ),
    (
        "train --preset cpu --set model.dtype=fp4",
        "model.dtype: must be 'auto', 'fp32' or 'bf16' (got 'fp4')",
    ),
    ("train --preset cpu --config nothing.yaml", "no such config file: nothing.yaml"),
    ("train --preset cpu --config folder", "no such config file: folder"),
    ("train --preset cpu --config empty.yaml", "empty.yaml: expected a mapping of settings"),
    ("train --preset cpu --config list.yaml", "list.yaml: expected a mapping of settings"),
    (
        "train --preset cpu --config broken.yaml",
        "broken.yaml:2: not valid YAML (expected ',' or ']', but got '<stream end>')",
    ),
    ("train --preset cpu --config key.yaml", "unknown setting 'nothing'"),
    ("train --preset cpu --config latin.yaml", "latin.yaml cannot be read: it is not UTF-8 text"),
    (
        "train --preset cpu --plugin nothing.py",
        "nothing.py cannot be read: No such file or directory",
    ),
    (
        "train --preset cpu --plugin bad.py",
        "bad.py cannot be loaded: ModuleNotFoundError: No module named 'nothing_of_that_name' (bad.py, line 1)",
    ),
    ("train --preset cpu --plugin folder", "folder: a plug-in is a Python file, NAME.py"),
    ("train --resume nothing", "no run called 'nothing'; see prorl train status"),
    ("train --resume latest", "no runs under runs/: start one with prorl train"),
    (
        "train --resume nothing --preset cpu",
        "--resume goes on with the run's own config: beside it only --steps and --set are of use",
    ),
    ("train explain nothing", "no run called 'nothing'; see prorl train status"),
    ("train explain", "no runs under runs/: start one with prorl train"),
    ("verify file empty.jsonl", "empty.jsonl is empty: put responses in it, one row per line"),
    ("verify file task.jsonl --out -", "cannot write -: it would be a file called '-'"),
    ("train export --out -", "cannot write -: it would be a file called '-'"),
    ("train export", "no runs under runs/: start one with prorl train"),
    ("train export folder", "no run called 'folder'; see prorl train status"),
    ("train export --best --step 3", "--best and --step name two checkpoints: give one of them"),
    ("train export nothing --out out", "no run called 'nothing'; see prorl train status"),
    (
        "train simulate --preset cpu --steps -3",
        "invalid value for '--steps': must be at least 1; see prorl train simulate --help",
    ),
    (
        "train simulate --preset cpu --plot timeline.png",
        "--plot timeline.png: the timeline is an SVG, name a file that ends in .svg",
    ),
    (
        "train simulate --preset cpu --set controller.reset_interval=x",
        "controller.reset_interval: must be a whole number (got 'x')",
    ),
    ("data build --recipe nope", "unknown recipe 'nope'"),
    ("data build --recipe quikstart", "unknown recipe 'quikstart' (did you mean 'quickstart'?)"),
    ("data build --recipe nothing.yaml", "no such recipe file: nothing.yaml"),
    ("data build --recipe list.yaml", "list.yaml: expected a mapping with name and entries"),
    (
        "data build --recipe tiny.yaml --out text.txt",
        "cannot write text.txt: it is a file, name a folder",
    ),
    ("data build --recipe tiny.yaml --workers 0", "invalid value for '--workers'"),
    ("data inspect nothing", "no such dataset: nothing; build one with: prorl data build"),
    ("data inspect folder", "folder is not a dataset: it has no manifest.json"),
    ("data inspect text.txt", "text.txt is not a readable Parquet file"),
    ("data benchmarks nothing", "unknown benchmark 'nothing'"),
    ("data benchmarks list.yaml", "benchmark list.yaml: expected a mapping with keys such as name"),
    ("data export nothing --format trl --out out", "no such dataset: nothing"),
    ("data nothing", "no such command 'nothing'; see prorl data --help"),
    ("eval pass-at-k --k 0", "sampling.k: must be at least 1 (got '0')"),
    ("eval pass-at-k --k x", "sampling.k: must be a whole number (got 'x')"),
    (
        "eval pass-at-k --n 2 --k 8",
        "k > n: pass@8 cannot be estimated from 2 samples a problem; use --n 16 (2k is advised) or a smaller --k",
    ),
    ("eval pass-at-k --run nothing", "no run 'nothing' under runs/; start one with prorl train"),
    (
        "eval pass-at-k --run nothing --model smollm2-135m",
        "give --model, or --run with --checkpoint, not both",
    ),
    ("eval pass-at-k --model ./nomodel", "no such model folder: nomodel"),
    ("eval pass-at-k --model ./nomodel --dataset nothing", "no such dataset: nothing"),
    ("eval pass-at-k --set n=3", "unknown setting 'n' (did you mean 'sampling.n'?)"),
    ("eval pass-at-k --set sampling.n=x", "sampling.n: must be a whole number (got 'x')"),
    (
        "eval pass-at-k --set sampling",
        "--set sampling: write it as section.key=value, e.g. sampling.n=64",
    ),
    ("eval pass-at-k --config nothing.yaml", "no such config file: nothing.yaml"),
    (
        "eval pass-at-k --config twice.yaml",
        "twice.yaml:2: not valid YAML ('sampling' is given twice)",
    ),
    ("eval pass-at-k --config list.yaml", "list.yaml: expected a mapping of settings"),
    (
        "eval pass-at-k --set sampling.protocol=nope",
        "no protocol 'nope'; there are prorl, boundary, justrl",
    ),
    ("eval pass-at-k --set model.backend=nope", "unknown backend 'nope'"),
    ("eval pass-at-k --temperature -1", "sampling.temperature: must be at least 0 (got '-1')"),
    ("eval pass-at-k --top-p 2", "sampling.top_p: must be at most 1 (got '2')"),
    (
        "eval pass-at-k --set server.url=nothing",
        "the server's address is 'nothing': write it as http://host:8000/v1",
    ),
    (
        "eval pass-at-k --set server.model=x",
        "server.model is given without server.url: add --set server.url=http://host:8000/v1, or leave out what is of a server",
    ),
    (
        "eval run --server-rpm 3",
        "no such option: --server-rpm: use --set server.rpm=VALUE; see prorl eval run --help",
    ),
    ("eval pass-at-k --server URL", "no such option: --server: use --set server.url=VALUE"),
    ("eval novelty x --seed 1", "no such option: --seed: use --set novelty.seed=VALUE"),
    ("eval compare a b --alpha 0.1", "no such option: --alpha: use --set comparison.alpha=VALUE"),
    ("data rate --top-p 1", "no such option: --top-p: use --set sampling.top_p=VALUE"),
    ("train --lr 1e-6", "no such option: --lr: use --set optimizer.lr=VALUE"),
    ("eval compare", "missing argument 'names'; see prorl eval compare --help"),
    (
        "eval compare a b",
        "no run 'a' under runs/; start one with prorl train, or name a result folder that prorl eval pass-at-k wrote",
    ),
    (
        "eval compare folder folder",
        "no result.json in folder: make one with prorl eval pass-at-k, or finish an interrupted one by giving the same command again",
    ),
    (
        "eval compare text.txt folder",
        "text.txt is not a result of prorl eval (JSONDecodeError: Expecting value: line 1 column 1 (char 0)): give the pass-at-k command again, sampled answers are kept",
    ),
    ("eval report nothing", "no run 'nothing' under runs/"),
    ("eval report folder", "no result.json in folder"),
    (
        "eval regrade nothing",
        "nothing is not an evaluation folder (no eval.json): name a folder that prorl eval pass-at-k wrote",
    ),
    ("eval regrade folder", "folder is not an evaluation folder (no eval.json)"),
    ("eval novelty", "missing argument 'results'; see prorl eval novelty --help"),
    (
        "eval run --suite nope",
        "no suite 'nope'; known: ood, prorl, quickstart; or give the path of a .yaml file of your own",
    ),
    ("eval run --suite nothing.yaml", "no suite 'nothing.yaml'"),
    ("eval run --suite list.yaml", "list.yaml: expected a mapping with name and benchmarks"),
    (
        "verify answer --verifier maths --gold 4 5",
        "unknown verifier 'maths' (did you mean 'math'?)",
    ),
    ("verify answer --verifier math 5", "give either --gold or --reference"),
    (
        "verify answer --verifier code --gold 4 5",
        "code: unknown key 'answer' in the reference: use tests, language",
    ),
    ("verify file nothing.jsonl", "no such file: nothing.jsonl"),
    (
        "verify file broken.jsonl",
        "broken.jsonl:1: not valid JSON (Expecting ',' delimiter: line 2 column 1 (char 9))",
    ),
    ("verify file row.jsonl", "row.jsonl:1: the line has no 'task'"),
    (
        "verify file task.jsonl",
        "task.jsonl:1: math: the reference needs 'answer', text or a number",
    ),
    ("verify file wrong.jsonl", "wrong.jsonl:1: unknown verifier 'maht' (did you mean 'math'?)"),
    ("verify file folder", "folder is a folder, not a file"),
    ("verify file task.jsonl --workers 0", "invalid value for '--workers': must be at least 1"),
    ("verify file task.jsonl --mode nope", "mode 'nope': write VERIFIER=MODE, like math=either"),
    ("verify audit --verifier nope", "unknown verifier 'nope'"),
    ("verify replay nothing", "no such run: neither nothing nor runs/nothing is a folder"),
    (
        "verify serve --port 99999",
        "invalid value for '--port': must be at most 65535; see prorl verify serve --help",
    ),
    ("verify serve --workers 0", "invalid value for '--workers': must be at least 1"),
    ("sandbox run nothing.py", "cannot read nothing.py: No such file or directory"),
    ("sandbox run program.foo", "no language's files end in .foo: name it with --language"),
    ("sandbox run empty.yaml", "no language's files end in .yaml: name it with --language"),
    ("sandbox run bad.py --language cobol", "unknown language 'cobol'"),
    (
        "sandbox run bad.py --args 1",
        "--args must be a JSON list of positional arguments, like '[1, \"a\"]'",
    ),
    (
        "sandbox run bad.py --call f --args {",
        "--args is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
    ("sandbox run bad.py --wall 0", "limit wall_seconds must be above 0 and up to 86,400, not 0.0"),
    (
        "sandbox run bad.py --backend podman",
        "unknown sandbox backend 'podman': use local, docker or docker:RUNTIME",
    ),
    ("sandbox run folder", "folder is a folder: give the file of one program"),
    *(
        (f"{words} --backend podman", "unknown sandbox backend 'podman': use local, docker")
        for words in (
            "verify answer 1 --gold 1",
            "verify file right.jsonl",
            "verify audit",
            "verify serve",
        )
    ),
    ("sandbox attack --backend podman", "unknown sandbox backend 'podman'"),
    ("model fetch smolm2-135m", "unknown model 'smolm2-135m' (did you mean 'smollm2-135m'?)"),
    ("model fetch nope", "unknown model 'nope'"),
    (
        "doctor --device tpu",
        "invalid value for '--device': 'tpu' is not one of 'auto', 'cpu', 'cuda'; see prorl doctor --help",
    ),
    (
        "doctor --engine ray",
        "invalid value for '--engine': 'ray' is not one of 'local', 'openrlhf'; see prorl doctor --help",
    ),
    ("data build --recipe empty.yaml", "empty.yaml: expected a mapping with name and entries"),
    ("data build --recipe latin.yaml", "latin.yaml cannot be read: it is not UTF-8 text"),
    ("data build --recipe tiny.yaml --mirror nothing", "no such folder: nothing (--mirror)"),
    ("data build --recipe tiny.yaml --plugin none.py", "none.py holds no spec"),
    ("data export data/tiny --format nope --out out", "unknown format 'nope'"),
    ("data diff data/tiny nothing", "no such dataset: nothing; build one with: prorl data build"),
    ("data verify nothing", "no such dataset: nothing; build one with: prorl data build"),
    (
        "data benchmarks livecodebench --start yesterday",
        "the window is yesterday to 2025-02-01: write its days as YYYY-MM-DD",
    ),
    ("data recipes nothing", "got unexpected extra argument(s) (nothing); see prorl data recipes"),
    (
        "train simulate --preset cpu --from nothing",
        "--from nothing: there is no such file; name a run's metrics.jsonl",
    ),
    ("train simulate --preset cpu --from text.txt", "text.txt:1: not valid JSON"),
    (
        "train --preset cpu --set optimizer.lr=nan",
        "optimizer.lr: must be a finite number (got 'nan')",
    ),
    ("train --preset cpu --set steps=1.5", "steps: must be a whole number (got 1.5)"),
    ("train --preset cpu --set phases=[1]", "phases.0: expected a mapping of settings (got 1)"),
    (
        "eval pass-at-k --model ./nomodel --set model.device=cuda",
        "device 'cuda' was asked for, but torch sees no GPU: use device=cpu",
    ),
    (
        "eval run --model ./nomodel --set model.device=cuda",
        "device 'cuda' was asked for, but torch sees no GPU: use device=cpu",
    ),
    (
        "eval pass-at-k --model ./nomodel --set model.batches=nope --n 2 --k 1",
        "batches is 'nope': it must be fixed or bucketed",
    ),
    (
        "eval pass-at-k --set server.url=ftp://host/v1",
        "the server's address is 'ftp://host/v1': write it as http://host:8000/v1",
    ),
    (
        "eval pass-at-k --set server.url=http://host/v1 --dataset data/tiny --n 2 --k 1 --set server.extra=nope",
        "the extra request fields are not JSON",
    ),
    (
        "eval pass-at-k --set server.url=http://host/v1 --dataset data/tiny --n 2 --k 1 --set server.price=x",
        "the price is 'x': write it as in,out per million tokens, such as 0.5,1.5",
    ),
    (
        "eval pass-at-k --set server.url=http://host/v1 --dataset data/tiny --n 2 --k 1 --set server.refusals=x",
        "refusals is 'x': it must be stop or record",
    ),
    ("eval run --set suite.published=nope", "suite.published is 'nope': use core, all, none"),
    ("eval plan --rate 1.5", "invalid value for '--rate': must be at most 1"),
    ("eval plan --from nothing", "no result.json in nothing: make one with prorl eval pass-at-k"),
    ("verify answer --reference [] 5", "math: the reference must be a JSON object"),
    ("verify answer --verifier logic --reference {} 5", "logic: the reference needs 'dataset'"),
    ("verify answer --verifier stem --gold 4 --mode stem=x 5", "unknown mode 'x' of stem"),
    ("verify file latin.yaml", "latin.yaml cannot be read: it is not UTF-8 text"),
    (
        "verify serve --host 0.0.0.0",
        "0.0.0.0 can be reached from other machines: give a token (--token-file FILE or PRORL_TOKEN)",
    ),
    ("verify serve --token-file nothing", "cannot read the token file nothing"),
    ("verify serve --uds nothing/x.sock", "cannot listen on nothing/x.sock"),
    ("verify audit --dataset nope", "unknown reasoning-gym dataset 'nope'"),
    ("verify audit --file nothing", "no such file: nothing"),
    ("verify audit --file empty.jsonl", "empty.jsonl is empty: put tasks in it, one row per line"),
    (
        "sandbox run none.py --memory 0",
        "limit memory_mb must be a whole number from 16 to 1,048,576, not 0",
    ),
    ("sandbox run none.py --cpu nan", "invalid value for '--cpu': must be a finite number"),
    ("sandbox run none.py --stdin nothing", "cannot read nothing: No such file or directory"),
    ("sandbox attack --case A999", "no attack case 'A999'"),
    ("sandbox build-image --method nope", "unknown method 'nope'"),
    ("sandbox build-image --tag Prorl:1", "'Prorl:1' is no image's name: use lower-case letters"),
    ("sandbox build-image --tag prorl:", "'prorl:' is no image's name: use lower-case letters"),
    ("sandbox build-image --languages cpp", "an image needs python among its languages"),
    ("model chat hi --model ./nomodel", "no such model folder: nomodel"),
    ("quickstart --steps 0", "invalid value for '--steps': must be at least 1"),
    ("quickstart --device tpu", "device 'tpu' is not known: use auto, cpu, cuda or cuda:1"),
    (
        "quickstart --model ./nomodel --device cuda",
        "device 'cuda' was asked for, but torch sees no GPU: use device=cpu",
    ),
    ("quickstart --model ./nomodel", "no such model folder: nomodel"),
    *(
        (f"{words} folder", "cannot write folder: it is a folder, name a file in it")
        for words in (
            "train simulate --preset cpu --steps 3 --plot",
            "data benchmarks gsm8k --out",
            "eval report runs/x --html",
            "eval report runs/x --md",
            "eval compare a b --html",
            "eval compare a b --md",
            "eval run --html",
            "verify file task.jsonl --out",
            "verify audit --out",
            "verify serve --ready-file",
        )
    ),
    *(
        (f"{words} text.txt", "cannot write text.txt: it is a file, name a folder")
        for words in (
            "train export --out",
            "data export data/tiny --format trl --out",
            "eval pass-at-k --out",
            "eval run --out",
        )
    ),
    *(
        (f"{words} text.txt/x", "text.txt is a file, not a folder")
        for words in (
            "train export --out",
            "data build --recipe tiny.yaml --out",
            "data export data/tiny --format trl --out",
            "eval pass-at-k --out",
            "eval report runs/x --html",
            "verify file task.jsonl --out",
            "verify serve --ready-file",
        )
    ),
]
"""(arguments of ``prorl``, expected text of the line)."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset, no runs, and invalid files."""
    root = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (root / name).write_text(text)
    (root / "tiny.yaml").write_text(RECIPE)
    (root / "folder").mkdir()
    (root / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    build(load_recipe(str(root / "tiny.yaml")), root / "data" / "tiny", progress=NullProgress())
    return root


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(place)
    there = {*place.iterdir(), *(place / "data").iterdir()}
    yield
    left = {*place.iterdir(), *(place / "data").iterdir()} - there
    assert not left, "a mistake left something behind"


@pytest.mark.parametrize(("words", "line"), CASES, ids=[words for words, _ in CASES])
def test_a_mistake_is_one_line_with_the_cure_and_exit_2(
    words: str, line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if "--plugin" in words:  # a loaded plug-in file would stay in this process
        command = [sys.executable, "-m", "prorl_cli", *words.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code: object = done.returncode
        out, err = done.stdout, done.stderr
    else:
        monkeypatch.setattr(sys, "argv", ["prorl", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        code, (out, err) = ended.value.code, capfd.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1, err
    assert line in err


def test_a_port_in_use_is_said_before_any_worker_starts(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(sys, "argv", ["prorl", "verify", "serve", "--port", str(port)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 2
    assert capfd.readouterr().err == (
        f"error: cannot listen on 127.0.0.1 port {port}: Address already in use; "
        "choose another with --port (0 takes a free one)\n"
    )


def test_a_reader_that_has_enough_is_not_an_error() -> None:
    command = f"{sys.executable} -m prorl_cli data benchmarks | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert "Traceback" not in done.stderr


def test_a_table_in_a_pipe_is_as_wide_as_columns_says() -> None:
    widths = {}
    for columns in ("60", "100"):
        done = subprocess.run(
            [sys.executable, "-m", "prorl_cli", "eval", "run", "--list"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "COLUMNS": columns},
        )
        widths[columns] = max(len(line) for line in done.stdout.splitlines())
    assert widths["60"] <= 60 < widths["100"] <= 100


def test_the_version_is_that_of_the_distribution(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["prorl", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert capsys.readouterr().out == f"prorl {importlib.metadata.version('prorl')}\n"
