"""Masks in a decoding loop of your own: any vocabulary, NumPy logits, no torch and no model.

    python examples/mask_your_own_loop.py        (needs only constrain)

Random logits stand in for a model, so the text is nonsense; yet it satisfies the schema, whatever the logits are.
"""

from __future__ import annotations

import json

import numpy as np

import constrain

SCHEMA = {
    "type": "object",
    "properties": {
        "size": {"enum": ["S", "M", "L"]},
        "price": {"type": "number", "minimum": 1, "maximum": 99, "multipleOf": 0.05},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 2},
    },
    "required": ["size", "price"],
    "additionalProperties": False,
}
END = 256
# Every byte is a token here, and so are a few longer pieces; a real tokenizer comes by Vocabulary.from_file.
TOKENS = [bytes([byte]) for byte in range(256)] + [b"", b'{"', b'":', b',"', b"size", b"price", b"tags", b'"}']


def main(seed: int = 0) -> str:
    random = np.random.default_rng(seed)
    vocabulary = constrain.Vocabulary.from_tokens(TOKENS, end_ids=[END])
    matcher = constrain.Compiler(vocabulary).compile(constrain.json_schema(SCHEMA)).matcher()
    written = bytearray()
    while not matcher.is_terminated:
        logits = random.normal(size=(1, vocabulary.size)).astype(np.float32)
        constrain.apply_mask(logits, matcher.mask()[None])
        token_id = int(logits[0].argmax())
        matcher.advance(token_id)
        written += vocabulary.token_bytes(token_id)
    text = written.decode()
    print(text)
    print(json.loads(text))
    return text


if __name__ == "__main__":
    main()
