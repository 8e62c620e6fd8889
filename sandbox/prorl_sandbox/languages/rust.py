"""Rust 2021, compiled by rustc -O: one crate, the standard library alone.

rustc learns from /proc where its library is, which a box does not have; failing that from the link
that it was started by. For a call the submission becomes a module, in which the trait bounds of
``answer.rs`` find the function's types.
"""

import re

from prorl_sandbox.languages.answering import library, places
from prorl_sandbox.spec import Harness, LanguageSpec, Sources, Trial

FILE = "program.rs"
_START = (
    "mkdir -p bin && ln -sf $(command -v rustc) bin/rustc && ln -sfn /usr/lib lib"
    ' && exec ./bin/rustc "$@"'
)


def _sources(source: str, call: str) -> tuple[Sources, ...]:
    implied = ""
    if re.search(r"\bimpl\s+Solution\b", source) and not re.search(
        r"\bstruct\s+Solution\b", source
    ):
        implied = "pub struct Solution;"
    made = []
    for owner, name in places(call, source, r"\bimpl\s+Solution\b"):
        function = f"{owner}::{name}" if owner else name
        end = f"{implied}\npub fn prorl_call() {{ super::prorl_answer::serve({function}) }}"
        made.append({FILE: f"mod program {{ {source}\n{end}\n}}\n{library('answer.rs')}"})
    return tuple(made)


SPEC = LanguageSpec(
    name="rust",
    compile=(
        *("sh", "-c", _START, "rustc", "--edition=2021", "-O", "-Ccodegen-units=1"),
        *("-Cstrip=symbols", "--cap-lints=allow", "-o", "{binary}", "{source}"),
    ),
    run=("{binary}",),
    source_name=FILE,
    title="Rust",
    fences=("rs",),
    aliases=("rustc",),
    needs=("rustc", "cc"),
    own_processes=8,
    packages=("rustc",),
    harness=Harness(_sources),
    trial=Trial(
        'fn main() { println!("{}", 6 * 7); }\n', "fn add(a: i32, b: i32) -> i32 { a + b }\n"
    ),
)
