from __future__ import annotations

import pytest

from prorl_common import UserError
from prorl_sandbox.docker_backend.sandbox import open_docker


def _line(error: pytest.ExceptionInfo[UserError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_a_missing_image_names_the_command_that_builds_it(image: str) -> None:
    with pytest.raises(UserError) as error:
        open_docker("prorl-no-such-image:1")
    assert "prorl sandbox build-image" in _line(error)


def test_an_unknown_runtime_is_named(image: str) -> None:
    with pytest.raises(UserError) as error:
        open_docker(image, runtime="no-such-runtime")
    assert "no-such-runtime" in _line(error)
