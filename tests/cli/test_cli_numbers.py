from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args, get_type_hints

import pytest
import typer
from pydantic import BaseModel
from typer.models import OptionInfo
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_common.config import mistakes
from prorl_datasets.recipe.recipe import Recipe
from prorl_evaluation.config import EvalConfig
from prorl_training.config import TrainConfig


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
