"""The settings of an evaluation: file, options, ``--set``, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from prorl_cli.eval.app import app
from prorl_cli.eval.options import SAMPLING, option_keys
from prorl_cli.main import build_app
from prorl_common.config import ConfigError
from prorl_evaluation import load_result
from prorl_evaluation.config import EvalConfig, load_eval_config

SMALL = "sampling: {k: 2, n: 4, max_tokens: 4}\ndata: {limit: 2}\nmodel: {device: cpu}\n"


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
    assert "\n" not in line and "did you mean 'sampling.temperature'" in line
    assert "scoring.workers" in line and "did you mean 'model'" in line
    for wrong, said in (("sampling.n", "sampling.n=64"), ("sampling.n.x=1", "not a section")):
        with pytest.raises(ConfigError, match=said):
            load_eval_config(None, {"sampling.n": 2}, [wrong])


DISPLAY = {"json_out", "markdown", "html", "md", "each", "listed", "plugin", "config", "overrides"}


@pytest.mark.parametrize(
    ("verb", "sections", "other"),
    [
        ("pass-at-k", SAMPLING, set()),
        ("run", SAMPLING, set()),
        ("compare", ["comparison"], {"names"}),
        ("report", ["comparison"], {"names", "out"}),
        ("novelty", ["novelty"], {"results"}),
        ("regrade", ["scoring", "output"], {"folder"}),
    ],
)
def test_every_option_writes_a_key_of_the_tree_with_the_trees_own_default(
    verb: str, sections: Sequence[str], other: set[str]
) -> None:
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    tree, keys = EvalConfig().model_dump(), option_keys(sections)
    for option in command.params:
        if option.name in DISPLAY | other:
            continue
        section, name = keys[option.name].split(".")
        assert option.default == tree[section][name], option.name


def test_an_evaluation_keeps_its_settings_which_give_the_same_one_again(workplace: Path) -> None:
    Path("mine.yaml").write_text(SMALL)
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
