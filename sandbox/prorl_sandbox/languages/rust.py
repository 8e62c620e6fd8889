"""Rust 2021, compiled by rustc -O: one crate, the standard library alone.

rustc learns from /proc where its library is, which a box does not have; failing that from the link
that it was started by.
"""

from prorl_sandbox.spec import LanguageSpec, Trial

_START = (
    "mkdir -p bin && ln -sf $(command -v rustc) bin/rustc && ln -sfn /usr/lib lib"
    ' && exec ./bin/rustc "$@"'
)

SPEC = LanguageSpec(
    name="rust",
    compile=(
        *("sh", "-c", _START, "rustc", "--edition=2021", "-O", "-Ccodegen-units=1"),
        *("-Cstrip=symbols", "--cap-lints=allow", "-o", "{binary}", "{source}"),
    ),
    run=("{binary}",),
    source_name="program.rs",
    title="Rust",
    fences=("rs",),
    aliases=("rustc",),
    needs=("rustc", "cc"),
    own_processes=8,
    packages=("rustc",),
    trial=Trial('fn main() { println!("{}", 6 * 7); }\n'),
)
