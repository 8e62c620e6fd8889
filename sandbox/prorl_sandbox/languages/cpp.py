"""C++17, compiled with g++ -O2."""

from prorl_sandbox.spec import LanguageSpec

SPEC = LanguageSpec(
    name="cpp",
    compile=("g++", "-std=c++17", "-O2", "-pipe", "-o", "{binary}", "{source}"),
    run=("{binary}",),
    source_name="program.cpp",
    title="C++",
    fences=("c++", "cc", "cxx"),
    aliases=("g++", "c++17", "cpp17"),
    suffixes=(".cc", ".cxx"),
    alternatives={"g++": ("c++",)},
    packages=("g++",),
)
