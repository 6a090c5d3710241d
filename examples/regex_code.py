"""A regular expression as the specification: the model may only write a code of the right form.

python examples/regex_code.py                (needs constrain[model] and the weights that `make demo` fetches)
"""

from __future__ import annotations

import os
import re

import constrain

PATTERN = r"(BUG|FEATURE|QUESTION)-(low|medium|high)-[1-9][0-9]{0,2}"
PROMPT = """Label this message from a customer with a code such as BUG-low-7 (kind, urgency, number of people affected).
Message: The app crashes at every start since yesterday, for all 250 people in our company. Help, it is urgent!"""


def main() -> str:
    decoder = constrain.Decoder.from_pretrained(os.environ.get("CONSTRAIN_MODEL", "smollm2"))
    result = decoder.generate(PROMPT, spec=constrain.regex(PATTERN), max_tokens=20)
    print(result.text)
    assert re.fullmatch(PATTERN, result.text)
    return result.text


if __name__ == "__main__":
    main()
