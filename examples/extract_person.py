"""A Pydantic model as the specification, SmolLM2 as the model: a sentence becomes an object.

python examples/extract_person.py            (needs constrain[model,pydantic] and the weights that `make demo` fetches)
"""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

import constrain


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid")  # without it the model may add members of its own

    name: str = Field(min_length=1, max_length=40)
    born: int = Field(ge=1600, le=2030)
    profession: Literal["mathematician", "painter", "politician"]


SENTENCE = "Ada Lovelace (born in 1815) was an English mathematician who wrote the first computer program."


def main() -> Person:
    decoder = constrain.Decoder.from_pretrained(os.environ.get("CONSTRAIN_MODEL", "smollm2"))
    result = decoder.generate(f"Extract the person as JSON. {SENTENCE}", spec=Person, max_tokens=80)
    person = result.value
    assert isinstance(person, Person)
    print(result.text)
    print(f"{person.name}, {person.profession}, born in {person.born}")
    print(f"{result.usage.forced_tokens} of {result.usage.completion_tokens} tokens were forced")
    return person


if __name__ == "__main__":
    main()
