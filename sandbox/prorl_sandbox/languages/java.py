"""Java."""

from prorl_sandbox.spec import LanguageSpec, Trial

_JVM = (
    "-XX:+UseSerialGC",
    "-XX:ActiveProcessorCount=2",
    "-XX:ReservedCodeCacheSize=64m",
    "-XX:CompressedClassSpaceSize=64m",
    "-Xss512k",
)
SPEC = LanguageSpec(
    name="java",
    compile=(
        "javac",
        *("-J" + f for f in _JVM),
        "-J-XX:TieredStopAtLevel=1",
        "-J-Xmx512m",
        "-proc:none",
        "-nowarn",
        "-encoding",
        "UTF-8",
        "-d",
        "{binary}",
        "{source}",
    ),
    run=("java", *_JVM, "-Xshare:auto", "-Xmx{memory_mb}m", "-cp", "{binary}", "Main"),
    source_name="Main.java",
    title="Java",
    folders=tuple(f"/etc/java-{n}-openjdk" for n in range(11, 40)),
    own_processes=24,
    own_memory_mb=128,
    reserved_mb=1024,
    packages=("default-jdk-headless",),
    trial=Trial(
        "public class Main { public static void main(String[] a) { System.out.println(6 * 7); } }\n"
    ),
)
