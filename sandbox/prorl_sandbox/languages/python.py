"""Python: run by the box's own harness, so that calls and checks are possible."""

from prorl_sandbox.spec import LanguageSpec, Trial

SPEC = LanguageSpec(
    name="python",
    run=None,
    source_name="program.py",
    title="Python",
    fences=("py", "python3"),
    aliases=("py3",),
    packages=("python3",),
    trial=Trial("print(6 * 7)\n", "def add(a, b):\n    return a + b\n"),
)
