"""SQL for SQLite: standard input makes the database, the program asks it.

Both are scripts of the sqlite3 shell on one database in memory. Every statement that returns rows
prints them, one a line, columns with | between them and NULL as NULL; the first error ends the run
with exit code 1.
"""

from prorl_sandbox.spec import LanguageSpec, Trial

_START = (
    "cat > setup.sql && exec sqlite3 -batch -bail -noheader -list -separator '|' -nullvalue NULL"
    ' :memory: ".read setup.sql" ".read $1"'
)

SPEC = LanguageSpec(
    name="sql",
    run=("sh", "-c", _START, "sh", "{source}"),
    needs=("sqlite3",),
    source_name="program.sql",
    title="SQL (SQLite)",
    fences=("sqlite",),
    aliases=("sqlite3",),
    packages=("sqlite3",),
    trial=Trial("SELECT 6 * 7;\n"),
)
