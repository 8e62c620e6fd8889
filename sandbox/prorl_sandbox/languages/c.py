"""C17, compiled with gcc -O2 and the mathematics library."""

from prorl_sandbox.spec import LanguageSpec, Trial

SPEC = LanguageSpec(
    name="c",
    compile=("gcc", "-std=gnu17", "-O2", "-pipe", "-o", "{binary}", "{source}", "-lm"),
    run=("{binary}",),
    source_name="program.c",
    title="C",
    aliases=("gcc", "c11", "c17"),
    alternatives={"gcc": ("cc",)},
    packages=("gcc", "libc6-dev"),
    trial=Trial('#include <stdio.h>\nint main(void) { printf("%d\\n", 6 * 7); }\n'),
)
