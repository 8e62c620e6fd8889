"""JavaScript: node's parser checks the source, node runs it.

Node's heap may take the whole limit: with node's own memory that is more than the box has, so the
box's limit decides.
"""

from prorl_sandbox.spec import LanguageSpec

SPEC = LanguageSpec(
    name="javascript",
    compile=("node", "--check", "{source}"),
    run=("node", "--max-old-space-size={memory_mb}", "{source}"),
    source_name="program.js",
    title="JavaScript",
    fences=("js", "node"),
    aliases=("nodejs",),
    alternatives={"node": ("nodejs",)},
    packages=("nodejs",),
)
