"""Bash: its own parser checks the script, then runs it with the system's common tools."""

from prorl_sandbox.spec import LanguageSpec, Trial

SPEC = LanguageSpec(
    name="bash",
    compile=("bash", "-n", "{source}"),
    run=("bash", "{source}"),
    source_name="program.sh",
    title="Bash",
    fences=("sh", "shell"),
    suffixes=(".bash",),
    packages=("bash", "coreutils", "sed", "grep", "gawk", "findutils", "bc"),
    trial=Trial("echo $((6 * 7))\n"),
)
