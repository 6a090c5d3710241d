"""Masks against the parser's own steps, over a real vocabulary: `python -m benchmarks.mask_oracle`.

The twin in `tests/reference` judges masks and parser together, on small vocabularies. This judges the masks' fast ways
alone, on a large one: at states along valid instances of pattern-heavy schemas of maskbench-dev, the mask must equal
the set of tokens whose bytes the parser can step through, one after the other. Exit code 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time

import numpy as np
from rich.progress import track

import constrain
from benchmarks.data import json_text, maskbench, tokenizer_file, with_canonical_numbers

HEAVY = ('"pattern"', '"format"', '"maxLength"', '"patternProperties"', '"enum"', '"multipleOf"', '"minimum"')
MANY_STATES = 1_500_000


def is_heavy(schema: object) -> bool:
    """Whether the schema has what the fast ways are for."""
    text = json.dumps(schema, default=str)
    return sum(text.count(word) for word in HEAVY) >= 3


def differences(matcher: constrain.Matcher, row: np.ndarray, slow: np.ndarray) -> list[int]:
    """Tokens on which mask and steps disagree."""
    matcher.fill_mask(row)
    matcher._kernel.fill_stepwise(slow)
    changed = (row ^ slow).view(np.uint8)
    return np.nonzero(np.unpackbits(changed, bitorder="little"))[0].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10_000, help="stop after so many states (default 10,000)")
    parser.add_argument("--per-schema", type=int, default=60, help="at most so many states of one schema (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizer", choices=("llama3", "qwen3"), default="llama3")
    options = parser.parse_args()

    vocabulary = constrain.Vocabulary.from_file(tokenizer_file(options.tokenizer))
    compiler = constrain.Compiler(vocabulary)
    rows = [row for row in maskbench() if row.tests and is_heavy(row.schema)]
    random.Random(options.seed).shuffle(rows)
    row, slow = (np.empty((vocabulary.size + 31) // 32, np.int32) for _ in range(2))
    seen: set[int] = set()
    wrong, states, schemas, started = [], 0, 0, time.perf_counter()
    for bench in track(rows, description="schemas", transient=True):
        if states >= options.states:
            break
        try:
            terms = constrain.json_schema(bench.schema_text, whitespace="spaced").grammar
            grammar = compiler.compile_grammar(terms)
        except constrain.ConstrainError:
            continue
        schemas += 1
        most = min(options.states, states + options.per_schema)
        for instance in (test.value for test in bench.tests if test.valid):
            matcher = grammar.matcher()
            tokens = vocabulary.encode(json_text(with_canonical_numbers(instance)))
            for at, token in enumerate(tokens):
                if grammar.stats()["states"] > MANY_STATES:  # each byte of a free name is a state: begin anew
                    grammar = compiler.compile_grammar(terms)
                    matcher = grammar.matcher()
                    matcher.try_advance(tokens[:at])
                if states >= most:
                    break
                key = hash((bench.id, matcher.text))
                if key not in seen:
                    seen.add(key)
                    states += 1
                    if bad := differences(matcher, row, slow):
                        shown = [vocabulary.token_bytes(i) for i in bad[:5]]
                        wrong.append(f"{bench.id} behind {matcher.text[-60:]!r}: {len(bad)} tokens, such as {shown}")
                if not matcher.try_advance([token]):
                    break
            if states >= most:
                break
    took = time.perf_counter() - started
    print(f"{states:,} states of {schemas} schemas, {options.tokenizer}, {took:.0f} s: {len(wrong)} masks differ")
    for line in wrong[:50]:
        print("  " + line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
