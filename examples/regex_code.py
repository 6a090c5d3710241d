"""A regular expression as the specification: the model may only write a code of the right form.

python examples/regex_code.py                (needs constrain[model] and the weights that `make demo` fetches)
"""

from __future__ import annotations

import os
import re

import constrain

PATTERN = r"(BUG|FEATURE|QUESTION)-(low|medium|high)-[1-9][0-9]{0,2}"
PROMPT = """Message from a customer: The app crashes at every start, for all 250 people in our company. It is urgent!
Label it with its kind (BUG, FEATURE or QUESTION), urgency (low, medium or high) and number of people."""


def main() -> str:
    decoder = constrain.Decoder.from_pretrained(os.environ.get("CONSTRAIN_MODEL", "smollm2"))
    result = decoder.generate(PROMPT, spec=constrain.regex(PATTERN), max_tokens=20)
    print(result.text)
    assert re.fullmatch(PATTERN, result.text)
    return result.text


if __name__ == "__main__":
    main()
