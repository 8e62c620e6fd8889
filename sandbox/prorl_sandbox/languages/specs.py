"""Built-in languages, registered under ``prorl.languages``."""

from __future__ import annotations

import re
from pathlib import Path

from prorl_sandbox.spec import LanguageSpec, Sources, Trial


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


PYTHON = LanguageSpec(
    name="python",
    run=None,
    source_name="program.py",
    title="Python",
    fences=("py", "python3"),
    aliases=("py3",),
    packages=("python3",),
    trial=Trial("print(6 * 7)\n", "def add(a, b):\n    return a + b\n"),
)

BASH = LanguageSpec(
    name="bash",
    compile=("bash", "-n", "{source}"),
    compile_seconds=2.0,
    run=("bash", "{source}"),
    source_name="program.sh",
    title="Bash",
    fences=("sh", "shell"),
    suffixes=(".bash",),
    packages=("bash", "coreutils", "sed", "grep", "gawk", "findutils", "bc"),
    trial=Trial("echo $((6 * 7))\n"),
)

C = LanguageSpec(
    name="c",
    compile=("gcc", "-std=gnu17", "-O2", "-pipe", "-o", "{binary}", "{source}", "-lm"),
    compile_seconds=5.0,
    run=("{binary}",),
    source_name="program.c",
    title="C",
    aliases=("gcc", "c11", "c17"),
    alternatives={"gcc": ("cc",)},
    packages=("gcc", "libc6-dev"),
    trial=Trial('#include <stdio.h>\nint main(void) { printf("%d\\n", 6 * 7); }\n'),
)

CPP = LanguageSpec(
    name="cpp",
    compile=("g++", "-std=gnu++17", "-O2", "-pipe", "-o", "{binary}", "{source}"),
    compile_seconds=8.0,
    run=("{binary}",),
    source_name="program.cpp",
    title="C++",
    fences=("c++", "cc", "cxx"),
    aliases=("g++", "c++17", "cpp17"),
    suffixes=(".cc", ".cxx"),
    alternatives={"g++": ("c++",)},
    packages=("g++",),
    trial=Trial('#include <cstdio>\nint main() { std::printf("%d\\n", 6 * 7); }\n'),
)

GO = LanguageSpec(
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
        "GOMAXPROCS": "2",  # a thread per CPU would be too many
        "GOTOOLCHAIN": "local",
    },
    folders=tuple(f"/usr/share/go-1.{release}" for release in range(19, 40)),
    own_processes=16,
    reserved_mb=1024,
    packages=("golang-go",),
    trial=Trial('package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(6 * 7) }\n'),
)

# rustc finds its library through /proc, which a box lacks, or through the link that started it.
_RUSTC = (
    "mkdir -p bin && ln -sf $(command -v rustc) bin/rustc && ln -sfn /usr/lib lib"
    ' && exec ./bin/rustc "$@"'
)
RUST = LanguageSpec(
    name="rust",
    compile=(
        *("sh", "-c", _RUSTC, "rustc", "--edition=2021", "-O", "-Ccodegen-units=1"),
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

_JVM = (
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=2",
    "-XX:ReservedCodeCacheSize=48m",
    "-XX:CompressedClassSpaceSize=48m",
    "-XX:-UsePerfData",
    "-Xshare:auto",
)
"""JVM options that limit its own threads and memory."""
_JAVA_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_JAVA_PUBLIC = re.compile(
    r"[{}]|\bpublic\s+(?:(?:abstract|final|sealed|strictfp|non-sealed)\s+)*"
    r"(?:class|interface|enum|record)\s+(\w+)"
)


def java_file_name(source: str) -> str:
    """Return the file name that javac requires: the public class's, or ``Main.java``."""
    depth = 0
    for match in _JAVA_PUBLIC.finditer(_JAVA_NOT_CODE.sub(" ", source)):
        if match[1] and depth == 0:
            return f"{match[1]}.java"
        depth += {"{": 1, "}": -1}.get(match[0], 0)
    return "Main.java"


def _with_launcher(source: str) -> Sources:
    name, launcher = java_file_name(source), "ProrlLauncher.java"
    return {name: source, launcher: _text("Launcher.java"), "files": f"{name} {launcher}"}


JAVA = LanguageSpec(
    name="java",
    compile=(
        *("javac", *(f"-J{option}" for option in _JVM), "-J-XX:TieredStopAtLevel=1"),
        *("-J-Xmx512m", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", "{binary}"),
        "@files",
    ),
    run=(
        *("java", *_JVM, "-Xss1m", "-Xms16m", "-Xmx{memory_mb}m", "-Dfile.encoding=UTF-8"),
        *("--add-opens=java.base/java.io=ALL-UNNAMED", "-cp", "{binary}", "ProrlLauncher"),
    ),
    source_name="Main.java",
    title="Java",
    folders=tuple(f"/etc/java-{release}-openjdk" for release in range(11, 40)),
    arrange=_with_launcher,
    answers=True,
    own_memory_mb=128,
    own_processes=24,
    reserved_mb=1024,
    packages=("default-jdk-headless",),
    trial=Trial(
        "public class Main {\n"
        "    public static void main(String[] arguments) { System.out.println(6 * 7); }\n}\n"
    ),
)

_NODE_RUN = ("node", "--max-old-space-size={memory_mb}")
_NODE_ENVIRONMENT = {"OPENSSL_CONF": "/dev/null"}  # the system's file may be unreadable
_NODE_RESERVED_MB = 4096
"""Address space in MiB that node reserves at its start."""


def _with_call(source: str, call: str) -> Sources:
    owner, dot, name = call.partition(".")
    if dot:
        target = f'typeof {owner} === "undefined" ? undefined : method({owner}, "{name}")'
    else:
        solution = f'typeof Solution === "undefined" ? undefined : method(Solution, "{call}")'
        target = f'typeof {call} === "function" ? {call} : {solution}'
    answering = _text("call.js").replace("CALL_NAME", call).replace("CALL_TARGET", target)
    return {"program.js": f"{source}\n{answering}"}


JAVASCRIPT = LanguageSpec(
    name="javascript",
    compile=("node", "--check", "{source}"),
    compile_seconds=5.0,
    run=(*_NODE_RUN, "{source}"),
    source_name="program.js",
    title="JavaScript",
    fences=("js", "node"),
    aliases=("nodejs",),
    alternatives={"node": ("nodejs",)},
    environment=_NODE_ENVIRONMENT,
    reserved_mb=_NODE_RESERVED_MB,
    packages=("nodejs",),
    harness=_with_call,
    trial=Trial("console.log(6 * 7);\n", "function add(a, b) {\n  return a + b;\n}\n"),
)


def _with_node_types(source: str) -> Sources:
    return {"program.ts": source, "node.d.ts": _text("node.d.ts")}


TYPESCRIPT = LanguageSpec(
    name="typescript",
    compile=(
        *("sh", "-c", 'tsc "$@" && mv program.js {binary}', "tsc", "--target", "es2020"),
        *("--module", "commonjs", "--lib", "es2021", "--skipLibCheck", "--noEmitOnError"),
        *("{source}", "node.d.ts"),
    ),
    run=(*_NODE_RUN, "{binary}"),
    source_name="program.ts",
    title="TypeScript",
    fences=("ts",),
    alternatives={"node": ("nodejs",)},
    needs=("tsc",),
    arrange=_with_node_types,
    environment=_NODE_ENVIRONMENT,
    reserved_mb=_NODE_RESERVED_MB,
    packages=("nodejs", "node-typescript"),
    trial=Trial("const answer: number = 6 * 7;\nconsole.log(answer);\n"),
)

# Standard input and program are scripts for the sqlite3 shell, on one in-memory database. Statements print their rows;
# the first error ends the run with exit code 1.
_SQLITE = (
    "cat > setup.sql && exec sqlite3 -batch -bail -noheader -list -separator '|' -nullvalue NULL"
    ' :memory: ".read setup.sql" ".read $1"'
)
SQL = LanguageSpec(
    name="sql",
    run=("sh", "-c", _SQLITE, "sh", "{source}"),
    needs=("sqlite3",),
    source_name="program.sql",
    title="SQL (SQLite)",
    fences=("sqlite",),
    aliases=("sqlite3",),
    packages=("sqlite3",),
    trial=Trial("SELECT 6 * 7;\n"),
)
