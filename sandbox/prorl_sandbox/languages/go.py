"""Go, compiled by go build outside any module and without cgo: the standard library alone.

A call is answered before main begins, by an ``init`` function of a file that is compiled with the
submission.
"""

import re

from prorl_sandbox.languages.answering import library, places
from prorl_sandbox.spec import Harness, LanguageSpec, Sources, Trial

FILE = "program.go"
_ANSWER, _CALL = "answer.go", "call.go"
_BUILD = ("go", "build", "-ldflags=-s -w", "-o", "{binary}", "{source}")
_PACKAGE = re.compile(r"^package\s+\w+", re.MULTILINE)
_MAIN = re.compile(r"^func\s+main\s*\(", re.MULTILINE)


def _sources(source: str, call: str) -> tuple[Sources, ...]:
    if _PACKAGE.search(source):
        source = _PACKAGE.sub("package main", source, count=1)
    else:
        source = f"package main; {source}"
    main = "" if _MAIN.search(source) else "func main() {}\n"
    made = []
    for owner, name in places(call, source, r"\btype\s+Solution\s+struct\b"):
        function = f"new({owner}).{name}" if owner else name
        text = f"package main\n\nfunc init() {{ prorlServe({function}) }}\n{main}"
        made.append({FILE: source, _ANSWER: library("answer.go"), _CALL: text})
    return tuple(made)


SPEC = LanguageSpec(
    name="go",
    compile=_BUILD,
    run=("{binary}",),
    source_name=FILE,
    title="Go",
    aliases=("golang",),
    environment={
        "CGO_ENABLED": "0",
        "GO111MODULE": "off",
        "GOFLAGS": "",
        "GOMAXPROCS": "2",  # whatever the machine has: a thread for each would be too many
        "GOTOOLCHAIN": "local",
    },
    folders=tuple(f"/usr/share/go-1.{release}" for release in range(19, 40)),
    own_processes=16,
    reserved_mb=1024,
    packages=("golang-go",),
    harness=Harness(_sources, (*_BUILD, _ANSWER, _CALL)),
    trial=Trial(
        'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(6 * 7) }\n',
        "package main\n\nfunc add(a, b int) int { return a + b }\n",
    ),
)
