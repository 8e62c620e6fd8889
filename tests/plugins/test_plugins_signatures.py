from __future__ import annotations

from pathlib import Path

import pytest

from prorl_common import PluginError, use_plugins

VERIFIER = "from prorl_verifiers import VerifierSpec\n"
TRAINING = "from prorl_training import AdvantageSpec, KLSpec, PenaltySpec, PolicyLossSpec\n"
INFERENCE = "from prorl_inference import BackendSpec\n"
DATASETS = "from prorl_datasets.spec import AdapterSpec, SourceSpec\n"
LANGUAGE = "from prorl_sandbox import LanguageSpec\n"


def load(folder: Path, source: str) -> None:
    file = folder / "mine.py"
    file.write_text(source)
    use_plugins([file])


@pytest.mark.parametrize(
    ("source", "called", "function"),
    [
        (
            f"{VERIFIER}def score(text): return 1.0\nS = VerifierSpec(name='few', score=score)",
            "VerifierSpec 'few' must accept the call score(str, Reference)",
            "score(text) does not accept it",
        ),
        (
            f"{VERIFIER}def score(text, gold, mode): return 1.0\nS = VerifierSpec('many', score)",
            "score(str, Reference)",
            "score(text, gold, mode)",
        ),
        (
            f"{VERIFIER}def score(text, gold, *, mode): return 1.0\nS = VerifierSpec('word', score)",
            "score(str, Reference)",
            "argument: 'mode'",
        ),
        (
            f"{VERIFIER}S = VerifierSpec('tidy', lambda r, g: 1.0, check_reference=lambda: None)",
            "check_reference(Reference)",
            "<lambda>()",
        ),
        (
            f"{TRAINING}S = PolicyLossSpec('loss', lambda new, old, adv: new)",
            "PolicyLossSpec 'loss' must accept the call loss(Tensor, Tensor, Tensor, Tensor, Any)",
            "too many positional arguments",
        ),
        (f"{TRAINING}S = AdvantageSpec('adv', lambda r: r)", "advantages(Tensor,", "<lambda>(r)"),
        (f"{TRAINING}S = KLSpec('kl', lambda d: d)", "estimate(Tensor, Any)", "<lambda>(d)"),
        (f"{TRAINING}S = PenaltySpec('p', lambda r: 0.0)", "penalty(Response,", "<lambda>(r)"),
        (f"{INFERENCE}S = BackendSpec('b', lambda: None)", "open(BackendOptions)", "<lambda>()"),
        (f"{DATASETS}S = SourceSpec('s', lambda: [])", "rows(Mapping[str, Any])", "<lambda>()"),
        (f"{DATASETS}S = AdapterSpec('a', lambda raw: raw)", "convert(Mapping[", "<lambda>(raw)"),
        (
            f"{LANGUAGE}S = LanguageSpec('l', run=('l', '{{source}}'), arrange=lambda: None)",
            "arrange(str)",
            "<lambda>()",
        ),
        (f"{INFERENCE}S = BackendSpec('b', 3)", "open(BackendOptions)", "it is not a function"),
    ],
)
def test_a_function_that_does_not_take_what_it_gets_is_one_line(
    tmp_path: Path, source: str, called: str, function: str
) -> None:
    with pytest.raises(PluginError) as raised:
        load(tmp_path, source)
    line = str(raised.value)
    assert "\n" not in line and called in line and function in line
    assert line.startswith(str(tmp_path / "mine.py"))


def test_functions_that_take_more_than_they_get_are_welcome(tmp_path: Path) -> None:
    load(
        tmp_path,
        f"{VERIFIER}{TRAINING}import functools\n"
        "class Scorer:\n    def __call__(self, text, gold, strict=False): return 1.0\n"
        "A = VerifierSpec('callable-object', Scorer())\n"
        "B = VerifierSpec('partial', functools.partial(lambda mode, t, g: 1.0, 'x'))\n"
        "C = PolicyLossSpec('starred', lambda new, *rest, **options: new)\n",
    )
