"""TypeScript: tsc checks its types and makes JavaScript of it, which node runs."""

from prorl_sandbox.languages import javascript
from prorl_sandbox.languages.answering import library, places
from prorl_sandbox.spec import Harness, LanguageSpec, Sources, Trial

FILE = "program.ts"
_NODE = "node.d.ts"


def _arrange(source: str) -> Sources:
    return {FILE: source, _NODE: library(_NODE)}


def _sources(source: str, call: str) -> tuple[Sources, ...]:
    targets = [
        f'method({owner}, "{name}")' if owner else name
        for owner, name in reversed(places(call, source, r"\bclass\s+Solution\b"))
    ]
    return tuple(_arrange(f"{source}\n{javascript.answering(call, target)}") for target in targets)


SPEC = LanguageSpec(
    name="typescript",
    compile=(
        *("sh", "-c", 'tsc "$@" && mv program.js {binary}', "tsc", "--target", "es2020"),
        *("--module", "commonjs", "--lib", "es2021", "--skipLibCheck", "--noEmitOnError"),
        *("{source}", _NODE),
    ),
    run=("node", "--max-old-space-size={memory_mb}", "{binary}"),
    source_name=FILE,
    title="TypeScript",
    fences=("ts",),
    alternatives={"node": ("nodejs",)},
    needs=("tsc",),
    arrange=_arrange,
    environment=javascript.ENVIRONMENT,
    reserved_mb=javascript.RESERVED_MB,
    packages=("nodejs", "node-typescript"),
    harness=Harness(_sources),
    trial=Trial(
        "const answer: number = 6 * 7;\nconsole.log(answer);\n",
        "function add(a: number, b: number): number {\n  return a + b;\n}\n",
    ),
)
