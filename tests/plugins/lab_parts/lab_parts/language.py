"""Perl for code tasks: the interpreter checks a program, then runs it."""

from prorl_sandbox import LanguageSpec, Trial

SPEC = LanguageSpec(
    name="perl",
    compile=("perl", "-c", "{source}"),
    run=("perl", "{source}"),
    source_name="program.pl",
    folders=("/usr/share/perl",),
    trial=Trial('print 6 * 7, "\\n";\n'),
)
