"""Go, compiled by go build outside any module and without cgo: the standard library alone."""

from prorl_sandbox.spec import LanguageSpec, Trial

SPEC = LanguageSpec(
    name="go",
    compile=("go", "build", "-ldflags=-s -w", "-o", "{binary}", "{source}"),
    run=("{binary}",),
    source_name="program.go",
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
    trial=Trial('package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(6 * 7) }\n'),
)
