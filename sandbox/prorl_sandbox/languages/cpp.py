"""C++17, compiled with g++ -O2. For a call a function's type is deduced from its address."""

from prorl_sandbox.languages.answering import library, places
from prorl_sandbox.spec import Harness, LanguageSpec, Sources, Trial

FILE = "program.cpp"
_HEADER = "answer.hpp"


def _sources(source: str, call: str) -> tuple[Sources, ...]:
    """Return the source between our header and our main; its own main has another name."""
    made = []
    for owner, name in places(call, source, r"\b(class|struct)\s+Solution\b"):
        function = f"&{owner}::{name}" if owner else f"+{name}"
        text = (
            f'#include "{_HEADER}"\n#define main prorl_own_main\n#line 1 "{FILE}"\n{source}\n'
            f"#undef main\nauto main() -> decltype(0) {{ prorl_answer::serve({function}); }}\n"
        )
        made.append({FILE: text, _HEADER: library(_HEADER)})
    return tuple(made)


SPEC = LanguageSpec(
    name="cpp",
    compile=("g++", "-std=gnu++17", "-O2", "-pipe", "-o", "{binary}", "{source}"),
    run=("{binary}",),
    source_name=FILE,
    title="C++",
    fences=("c++", "cc", "cxx"),
    aliases=("g++", "c++17", "cpp17"),
    suffixes=(".cc", ".cxx"),
    alternatives={"g++": ("c++",)},
    packages=("g++",),
    harness=Harness(_sources),
    trial=Trial(
        '#include <cstdio>\nint main() { std::printf("%d\\n", 6 * 7); }\n',
        "int add(int a, int b) { return a + b; }\n",
    ),
)
