"""Fakes for tests: a byte tokenizer and a tiny random Llama."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

BYTE_VOCAB = 260
"""Vocabulary size: 256 bytes, then ``<pad>``, ``<eos>``, ``<user>``, ``<assistant>``."""

CHAT_TEMPLATE = (
    "{% for m in messages %}"
    "{{ '<assistant>' if m['role'] == 'assistant' else '<user>' }}{{ m['content'] }}"
    "{% if m['role'] == 'assistant' %}<eos>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def byte_tokenizer(vocab: int = BYTE_VOCAB) -> PreTrainedTokenizerFast:
    """Return a tokenizer with one token per UTF-8 byte and four special tokens, padded to ``vocab`` tokens."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    hf: Any = transformers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    specials = ["<pad>", "<eos>", "<user>", "<assistant>"]
    unused = (
        [*specials, *(f"<{i}>" for i in range(BYTE_VOCAB, vocab))] if vocab > BYTE_VOCAB else []
    )
    backend = Tokenizer(models.BPE({token: i for i, token in enumerate([*letters, *unused])}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(specials)
    tokenizer: PreTrainedTokenizerFast = hf.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<pad>",
        eos_token="<eos>",
        extra_special_tokens=["<user>", "<assistant>"],
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def tiny_model(
    seed: int = 0,
    hidden: int = 32,
    layers: int = 2,
    context: int = 512,
    vocab: int = BYTE_VOCAB,
    spread: float = 0.02,
) -> LlamaForCausalLM:
    """Return a random fp32 Llama on the CPU in eval mode. Equal arguments give equal weights.

    ``spread`` is the standard deviation of the weights.
    """
    import torch
    import transformers

    hf: Any = transformers

    config = hf.LlamaConfig(
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=spread,
        tie_word_embeddings=False,
        pad_token_id=256,
        bos_token_id=None,
        eos_token_id=257,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: LlamaForCausalLM = hf.LlamaForCausalLM(config).eval()
    return model
