from __future__ import annotations

import shlex
from pathlib import Path

from prorl_common import prorl_command


def test_a_suggested_command_survives_a_shell() -> None:
    words = ["eval", "report", Path("my runs/it's $HOME; ls"), "--k", 4]
    assert shlex.split(prorl_command(*words)) == ["prorl", *map(str, words)]
