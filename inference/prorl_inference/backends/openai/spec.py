"""The backend ``server``: any server with OpenAI's completions or chat api."""

from __future__ import annotations

from prorl_inference.backends.openai.generator import OpenAIGenerator
from prorl_inference.spec import SERVER, BackendSpec

SPEC = BackendSpec(
    SERVER,
    open=lambda options: OpenAIGenerator(options.url or "", options.server, options.tell),
    served=True,
)
