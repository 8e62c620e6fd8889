from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import get_args, get_type_hints

import pytest
import typer
from command_line import prorl
from pydantic import BaseModel
from typer.models import OptionInfo
from typer.testing import CliRunner

from prorl_cli.console import print_table
from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_common.config import mistakes
from prorl_datasets.recipe.recipe import Recipe
from prorl_evaluation.config import EvalConfig
from prorl_training.config import TrainConfig

HEAD = ("group", "problems", "pass@1", "pass@4", "pass@8", "mean reward", "infra", "reading")
ROWS = [
    ("overall", "8", *["0.125 [0.000, 0.328]"] * 3, "0.250 [0.1, 0.4]", "0%", "too few to say so"),
    ("mathematics", "8", *["0.000 [0.000, 0.316]"] * 3, "-", "12.5%", "only eight problems here"),
]


def drawn(capsys: pytest.CaptureFixture[str], *drop: str) -> list[str]:
    print_table("a title", HEAD, ROWS, drop)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_table_fits_and_no_word_or_number_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = drawn(capsys, "infra", "mean reward")
    assert max(map(len, lines)) <= width
    place = next(i for i, line in enumerate(lines) if line.startswith("columns left out"))
    table, note = lines[:place], " ".join(line.strip() for line in lines[place:])
    whole = {word for text in (*HEAD, *(c for row in ROWS for c in row)) for word in text.split()}
    assert {word for line in table[2:] for word in line.split() if "─" not in word} <= whole
    assert "[0.000, 0.328]" in "\n".join(table)
    left_out = (
        note.removeprefix("columns left out because the terminal is too narrow: ")
        .partition(" (")[0]
        .split(", ")
    )
    shown = "\n".join(table[2:])
    assert "infra" in left_out and "group" in shown
    assert all((name.split()[0] in shown) != (name in left_out) for name in HEAD)


def test_all_columns_stand_there_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = drawn(capsys, "infra")
    assert all(name in lines[2] for name in HEAD) and len(lines) == 6
    assert "0.125 [0.000, 0.328]" in lines[4]


@pytest.mark.parametrize(
    "words",
    [
        ["data", "recipes"],
        ["data", "benchmarks"],
        ["eval", "run", "--list"],
        ["train", "presets"],
        ["train", "fit", "--preset", "prorl-v2"],
        ["model", "list"],
    ],
)
def test_tables_of_commands_fit_eighty_columns(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(build_app(), words).stdout.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("──"))
    table = list(itertools.takewhile(str.strip, lines[rule - 1 :]))
    assert max(map(len, table)) <= 80
    assert "…" not in "".join(table)


@pytest.mark.parametrize(
    "words", ["train simulate --preset cpu --steps 50", "train fit --preset prorl-v2"]
)
def test_an_ascii_terminal_gets_ascii_and_no_traceback(words: str) -> None:
    done = prorl(None, *words.split(), PYTHONIOENCODING="ascii", COLUMNS="80")
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert done.stdout.isascii() and "\\" not in done.stdout


def parameters(app: typer.Typer) -> Iterator[tuple[str, OptionInfo, type]]:
    """Yield (name, option, kind) of every numeric parameter of a command."""
    callbacks = [c.callback for c in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield from parameters(group.typer_instance)
    callbacks += [app.registered_callback.callback] if app.registered_callback else []
    for callback in filter(None, callbacks):
        for name, hint in get_type_hints(callback, include_extras=True).items():
            kinds = (
                {int, float} & {get_args(hint)[0], *get_args(get_args(hint)[0])}
                if get_args(hint)
                else set()
            )
            for kind in kinds:
                yield f"{callback.__module__}.{name}", hint.__metadata__[0], kind


def test_every_option_of_a_number_refuses_what_no_one_can_mean() -> None:
    found = list(parameters(build_app()))
    assert len(found) > 40
    for name, option, kind in found:
        assert option.parser is not None, name
        wrong = [
            "99999999999999999999",
            "-7",
            "x",
            *(["nan", "inf", "1e999"] if kind is float else []),
        ]
        for value in wrong:
            with pytest.raises(typer.BadParameter):
                option.parser(value)


def test_a_number_beyond_its_bounds_is_one_line() -> None:
    done = CliRunner().invoke(build_app(), ["train", "--steps", "99999999999999999999"])
    assert isinstance(done.exception, UserError)
    says = "invalid value for '--steps': must be at most 1000000; see prorl train --help"
    assert str(done.exception) == says


def number_keys(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from number_keys(field.annotation, (*above, name))
        elif re.match(r"(<class ')?(int|float)\b", str(field.annotation)):
            yield (*above, name)


@pytest.mark.parametrize("model", [TrainConfig, EvalConfig, Recipe])
def test_every_number_of_the_settings_has_an_upper_bound_and_is_finite(
    model: type[BaseModel],
) -> None:
    keys = list(number_keys(model))
    assert len(keys) > 3
    for path in keys:
        for value in (10**20, float("nan"), float("inf")):
            values: object = value
            for key in reversed(path):
                values = {key: values}
            assert isinstance(values, dict)
            assert path in mistakes(model, values), (path, value)
