"""The logits processor in transformers' own `generate`, with beams and a batch.

    python examples/transformers_generate.py     (needs constrain[transformers])

The model is a tiny Llama with random weights and the vocabulary is bytes, so that nothing is downloaded. With a real
model only two lines change: `AutoModelForCausalLM.from_pretrained(…)` and `Vocabulary.from_transformers(tokenizer)`.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import constrain
from constrain.integrations.transformers import LogitsProcessor

END = 256


def tiny_llama() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=257,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=END,
        pad_token_id=END,
    )
    return LlamaForCausalLM(config).eval()


def main() -> list[str]:
    model: Any = tiny_llama()  # transformers' own types do not let a model generate
    vocabulary = constrain.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)] + [b""], end_ids=[END])
    grammar = constrain.Compiler(vocabulary).compile(constrain.regex(r"[A-Z]{2}-[0-9]{3}(-(ok|failed))?"))
    prompts = torch.tensor([list(b"a"), list(b"b")])
    output = model.generate(
        prompts,
        attention_mask=torch.ones_like(prompts),
        logits_processor=[LogitsProcessor(grammar)],
        max_new_tokens=40,
        num_beams=3,
    )
    texts = [vocabulary.decode(row[1:].tolist()).decode() for row in output]
    print(texts)
    return texts


if __name__ == "__main__":
    main()
