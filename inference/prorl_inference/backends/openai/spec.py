"""The backend ``server``: any server that speaks OpenAI's completions or chat protocol."""

from __future__ import annotations

from prorl_common import UserError
from prorl_inference.backends.openai.generator import OpenAIGenerator
from prorl_inference.spec import SERVER, BackendOptions, BackendSpec


def _open(options: BackendOptions) -> OpenAIGenerator:
    if options.url is None:
        raise UserError("--backend server and --server URL go together")
    return OpenAIGenerator(options.url, options.server, options.tell)


SPEC = BackendSpec(SERVER, _open, served=True)
