"""Small objects and arrays, every state: what may follow, what is complete, and that nothing leads to a dead end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from constrain.grammar import terms
from constrain.grammar.recognizer import Recognizer as KernelRecognizer
from tests.kernel.subjects import twin_of
from tests.strategies import examples, small_members, small_unique_items

MOST_STATES = 400


def assert_same_everywhere(term: terms.Grammar) -> None:
    """Follow every byte that either side allows, from every state reached so far."""
    spec = terms.GrammarSpec({"start": term})
    twin, kernel = twin_of(spec), KernelRecognizer(spec)
    assert kernel.is_empty == (not twin.start())
    if kernel.is_empty:
        return
    seen = {twin.start()}
    open_states = [(twin.start(), kernel.start, b"")]
    while open_states and len(seen) < MOST_STATES:
        state, kernel_state, text = open_states.pop(0)
        assert set(kernel.legal_bytes(kernel_state)) == twin.legal_bytes(state), text
        assert kernel.is_complete(kernel_state) == twin.is_complete(state), text
        completed = text + kernel.completion(kernel_state)
        assert twin.accepts(completed), f"{text!r} is not completed by {completed!r}"
        for byte in sorted(twin.legal_bytes(state)):
            successor = twin.step(state, byte)
            if successor not in seen:
                seen.add(successor)
                open_states.append((successor, kernel.step(kernel_state, byte), text + bytes((byte,))))


@examples(30)
@given(small_members(st.sampled_from(("json", "json_any"))))
def test_every_state_of_a_small_object(term: terms.Members):
    assert_same_everywhere(term)


@examples(30)
@given(small_unique_items())
def test_every_state_of_a_small_array_of_different_items(term: terms.Items):
    assert_same_everywhere(term)
