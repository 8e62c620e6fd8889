"""JavaScript: node's parser checks the source, node runs it.

Node's heap may take the whole limit: with node's own memory that is more than the box has, so the
box's limit decides.
"""

from prorl_sandbox.languages.answering import library
from prorl_sandbox.spec import Harness, LanguageSpec, Sources, Trial

FILE = "program.js"
ENVIRONMENT = {"OPENSSL_CONF": "/dev/null"}  # the system's may be there and closed
RESERVED_MB = 4096
"""What node reserves of address space: room for its heap to grow and for code."""


def target(call: str) -> str:
    """Return the expression that finds the function to call, for the end of ``answer.js``."""
    owner, dot, name = call.partition(".")
    if dot:
        return f'typeof {owner} === "undefined" ? undefined : method({owner}, "{name}")'
    solution = f'typeof Solution === "undefined" ? undefined : method(Solution, "{call}")'
    return f'typeof {call} === "function" ? {call} : {solution}'


def answering(call: str, expression: str) -> str:
    """Return what stands behind a program that is to answer a call."""
    text = library("answer.js").replace("CALL_NAME", call)
    return text.replace("CALL_TARGET", expression)


def _sources(source: str, call: str) -> tuple[Sources, ...]:
    return ({FILE: f"{source}\n{answering(call, target(call))}"},)


SPEC = LanguageSpec(
    name="javascript",
    compile=("node", "--check", "{source}"),
    run=("node", "--max-old-space-size={memory_mb}", "{source}"),
    source_name=FILE,
    title="JavaScript",
    fences=("js", "node"),
    aliases=("nodejs",),
    alternatives={"node": ("nodejs",)},
    environment=ENVIRONMENT,
    reserved_mb=RESERVED_MB,
    packages=("nodejs",),
    harness=Harness(_sources),
    trial=Trial(
        "console.log(6 * 7);\n",
        "function add(a, b) {\n  return a + b;\n}\n",
    ),
)
