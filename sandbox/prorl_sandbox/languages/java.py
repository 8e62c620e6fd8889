"""Java: javac makes an archive of classes, in which ``Answer.java`` finds the main method or the one
to call, whose types it asks for by reflection.

The JVM keeps to what a box has: one collector thread, two processors, small caches. The heap may
take the whole memory limit; what the JVM needs beside it comes on top.
"""

import re

from prorl_sandbox.languages.answering import library
from prorl_sandbox.spec import Harness, LanguageSpec, Sources, Trial

_JVM = (
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=2",
    "-XX:ReservedCodeCacheSize=48m",
    "-XX:CompressedClassSpaceSize=48m",
    "-XX:-UsePerfData",
    "-Xshare:auto",
)
_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_OUTER = re.compile(
    r"[{}]|\bpublic\s+(?:(?:abstract|final|sealed|strictfp|non-sealed)\s+)*"
    r"(?:class|interface|enum|record)\s+(\w+)"
)
_ANSWER = "ProrlAnswer.java"


def file_name(source: str) -> str:
    """Return the file name that javac wants: the public class's, ``Main.java`` without one."""
    depth = 0
    for found in _OUTER.finditer(_NOT_CODE.sub(" ", source)):
        if found[1] and depth == 0:
            return f"{found[1]}.java"
        depth += {"{": 1, "}": -1}.get(found[0], 0)
    return "Main.java"


def _files(source: str, owner: str, name: str) -> Sources:
    answer = library("Answer.java").replace("CALL_OWNER", owner).replace("CALL_NAME", name)
    own = file_name(source)
    return {own: source, _ANSWER: answer, "files": f"{own} {_ANSWER}"}


def _arrange(source: str) -> Sources:
    return _files(source, "", "")


def _sources(source: str, call: str) -> tuple[Sources, ...]:
    owner, _, name = call.rpartition(".")
    return (_files(source, owner, name),)


SPEC = LanguageSpec(
    name="java",
    compile=(
        *("javac", *(f"-J{option}" for option in _JVM), "-J-XX:TieredStopAtLevel=1"),
        *("-J-Xmx512m", "-proc:none", "-nowarn", "-encoding", "UTF-8", "-d", "{binary}"),
        "@files",
    ),
    run=(
        *("java", *_JVM, "-Xss1m", "-Xms16m", "-Xmx{memory_mb}m", "-Dfile.encoding=UTF-8"),
        *("--add-opens=java.base/java.io=ALL-UNNAMED", "-cp", "{binary}", "ProrlAnswer"),
    ),
    source_name="Main.java",
    title="Java",
    folders=tuple(f"/etc/java-{release}-openjdk" for release in range(11, 40)),
    arrange=_arrange,
    own_memory_mb=128,
    own_processes=24,
    reserved_mb=1024,
    answers=True,
    packages=("default-jdk-headless",),
    harness=Harness(_sources),
    trial=Trial(
        "public class Main {\n"
        "    public static void main(String[] arguments) { System.out.println(6 * 7); }\n}\n",
        "class Solution {\n    int add(int a, int b) { return a + b; }\n}\n",
    ),
)
