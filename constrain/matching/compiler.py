"""From a specification and a vocabulary to a compiled grammar that many matchers share.

A `Compiler` belongs to one vocabulary: it builds the vocabulary's trie once, keeps the splits of common lexemes for all
its grammars (in the kernel's vocabulary object), and remembers the grammars it compiled last.

Source: Koo et al. 2024, "Automata-based constraints for language model decoding".
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from constrain import _kernel
from constrain.errors import EmptyLanguage, InvalidSpecification, VocabularyError, shorten
from constrain.grammar import terms
from constrain.grammar.lower import compile_kernel, kernel_limits
from constrain.matching.matcher import Matcher
from constrain.matching.vocabulary import Vocabulary
from constrain.specification import Specification, coerce

DEFAULT_CACHE_LIMIT_BYTES = 256 << 20
REMEMBERED_GRAMMARS = 64
LONGEST_DEADLINE_S = 10**9
LARGEST_CACHE_BYTES = 1 << 62


class CompiledGrammar:
    """One grammar over one vocabulary. Safe for many threads; its tables grow as they are used.

    `specification` is what it was compiled from, `vocabulary` what its masks are over.
    """

    def __init__(self, specification: Specification | None, vocabulary: Vocabulary, kernel: _kernel.Grammar):
        self.specification = specification
        self.vocabulary = vocabulary
        self.kernel = kernel
        self.words = (vocabulary.size + 31) // 32

    def matcher(self) -> Matcher:
        """A matcher at the start of a text. Cost: O(1)."""
        return Matcher(self)

    def stats(self) -> dict[str, int]:
        """Counts: terms, states, bytes, masks computed and cached, trie nodes visited, splits."""
        return self.kernel.stats()


class Compiler:
    """Compiles specifications for `vocabulary`.

    Args:    cache_limit_bytes: what masks of one grammar may take, and as much again for shared lexeme splits.
    Raises:  VocabularyError: no token spells a single byte.
    Cost:    about 0.1 s for a vocabulary of 128,000 tokens, once per vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary, cache_limit_bytes: int = DEFAULT_CACHE_LIMIT_BYTES):
        if not isinstance(vocabulary, Vocabulary):
            raise VocabularyError(
                f"a Compiler needs a Vocabulary, not {type(vocabulary).__name__}",
                help='constrain.Vocabulary.from_file("tokenizer.json"), from_transformers(tokenizer), …',
            )
        if isinstance(cache_limit_bytes, bool) or not isinstance(cache_limit_bytes, int) or cache_limit_bytes < 0:
            raise InvalidSpecification(
                f"cache_limit_bytes={shorten(cache_limit_bytes)}", expected="a number of bytes, 0 or more"
            )
        self.vocabulary = vocabulary
        self.cache_limit_bytes = min(cache_limit_bytes, LARGEST_CACHE_BYTES)
        self._vocab = vocabulary.kernel
        self._vocab.set_split_limit(self.cache_limit_bytes)
        self._warm()
        self._remembered: OrderedDict[int, CompiledGrammar] = OrderedDict()
        self._lock = threading.Lock()

    def _warm(self) -> None:
        """Split the body of a JSON string, which nearly every grammar needs; the vocabulary keeps it. Cost: 1 ms."""
        if self._vocab.split_bytes:
            return
        quote = terms.Literal('"')
        string = terms.concat(quote, terms.Encoded(terms.ANY_TEXT, "json"), quote)
        kernel, alive = compile_kernel(terms.GrammarSpec({"start": terms.Lexeme(string)}), self._vocab.alphabet)
        if not alive or not kernel.use(self._vocab, self.cache_limit_bytes):
            return
        matcher = CompiledGrammar(None, self.vocabulary, kernel).matcher()
        try:
            quote_tokens = self.vocabulary.encode('"')
        except VocabularyError:  # a quote stands only inside longer tokens: nothing to split ahead of time
            return
        if matcher.try_advance(quote_tokens) == len(quote_tokens):
            matcher.mask()

    def compile(self, spec: Any, deadline_s: float | None = None) -> CompiledGrammar:
        """The grammar of `spec` (a Specification, a schema, a Python type) over this vocabulary.

        Args:    deadline_s: seconds after which compiling gives up.
        Raises:  SpecificationError: as the front end. VocabularyError: the vocabulary cannot spell any text of it.
                 LimitExceeded: the deadline, or a limit of the kernel.
        Cost:    the front end's, and time linear in the grammar's terms; masks are computed when first needed.
        """
        specification = coerce(spec)
        with self._lock:
            known = self._remembered.get(id(specification))
            if known is not None and known.specification is specification:
                self._remembered.move_to_end(id(specification))
                return known
        compiled = self.compile_grammar(specification.grammar, deadline_s=deadline_s, specification=specification)
        with self._lock:
            self._remembered[id(specification)] = compiled
            while len(self._remembered) > REMEMBERED_GRAMMARS:
                self._remembered.popitem(last=False)
        return compiled

    def compile_grammar(
        self,
        grammar: terms.GrammarSpec,
        *,
        deadline_s: float | None = None,
        specification: Specification | None = None,
    ) -> CompiledGrammar:
        """The same for terms, without a front end."""
        if deadline_s is not None and (
            isinstance(deadline_s, bool) or not isinstance(deadline_s, int | float) or deadline_s != deadline_s  # NaN
        ):
            raise InvalidSpecification(f"deadline_s={shorten(deadline_s)}", expected="seconds, or None")
        if deadline_s is not None and deadline_s > LONGEST_DEADLINE_S:
            deadline_s = None
        kernel, alive = compile_kernel(grammar, self._vocab.alphabet, deadline_s=deadline_s)
        if alive:
            with kernel_limits():
                alive = kernel.use(self._vocab, self.cache_limit_bytes)
        if not alive:
            if not compile_kernel(grammar)[1]:
                raise EmptyLanguage("no text satisfies the specification", help="loosen what contradicts itself")
            missing = sorted(self.vocabulary.unproducible_bytes)
            raise VocabularyError(
                "the vocabulary cannot spell any text of the specification; "
                f"bytes that are no token of their own: {shorten(missing)}",
                help="use a tokenizer whose tokens can spell such a text",
            )
        return CompiledGrammar(specification, self.vocabulary, kernel)
