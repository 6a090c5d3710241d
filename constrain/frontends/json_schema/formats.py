"""The formats that are enforced: for each name, the regular language of the decoded strings that have it.

`FORMATS` maps a name to a function that builds its term on first use and keeps it. `NARROWER` lists what a language
leaves out on purpose, for the report. What is let in always has the format; formats that are no regular languages and
have no useful regular part (`idn-hostname`) are not here.

`formats_time`   date, time, date-time, duration: RFC 3339
`formats_net`    ipv4, ipv6, hostname, email, idn-email: RFC 4291, 1123, 5321, 6531
`formats_uri`    uri, uri-reference, iri, iri-reference, uri-template: RFC 3986, 3987, 6570
`formats_regex`  regex: ECMA-262
`formats_code`   uuid, json-pointer, relative-json-pointer, byte: RFC 9562, 6901, 4648
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from ...grammar.terms import Alternation, And, Not, Regular, shared
from . import formats_code, formats_net, formats_regex, formats_time, formats_uri

__all__ = ["BEFORE_IDNA", "FORMATS", "NARROWER", "is_narrower", "wider"]


Bound = Callable[[Regular], Regular]
_around: dict[int, tuple[Regular, Regular]] = {}
"""Terms that are narrower than what they stand for, by identity, each with one that is wider; `shared` keeps both."""

_within: dict[int, Regular] = {}
"""The other way round: the narrower term for each of these wider ones."""


def _once(build: Callable[[], Regular], name: str) -> Callable[[], Regular]:
    def made() -> Regular:
        term = shared(build())
        if name in NARROWER:
            around = shared(_WIDER[name]())
            _around[id(term)] = term, around
            _within[id(around)] = term
        return term

    return lru_cache(maxsize=1)(made)


def is_narrower(term: Regular) -> bool:
    """True if `term` leaves out some strings of what it stands for: of a format, or of what lacks one."""
    return wider(term) is not term


def wider(term: Regular) -> Regular:
    """A language that holds all strings which `term` stands for: `term` itself where it is exact."""
    if id(term) in _around:
        return _around[id(term)][1]
    return _with_parts(term, wider, narrower)


def narrower(term: Regular) -> Regular:
    """The other way: a language whose strings are certainly in what `term`, made by `wider`, stands for."""
    return _within.get(id(term)) or _with_parts(term, narrower, wider)


def _with_parts(term: Regular, same: Bound, opposite: Bound) -> Regular:
    if isinstance(term, Not):
        inner = opposite(term.item)
        return term if inner is term.item else Not(inner)
    if isinstance(term, (And, Alternation)):
        parts = tuple([same(part) for part in term.items])
        return term if all(a is b for a, b in zip(parts, term.items, strict=True)) else replace(term, items=parts)
    return term


FORMATS: Mapping[str, Callable[[], Regular]] = MappingProxyType(
    {
        name: _once(build, name)
        for name, build in {
            "date": formats_time.date,
            "time": formats_time.time,
            "date-time": formats_time.date_time,
            "duration": formats_time.duration,
            "ipv4": formats_net.ipv4,
            "ipv6": formats_net.ipv6,
            "hostname": formats_net.hostname,
            "email": formats_net.email,
            "idn-email": formats_net.idn_email,
            "uri": formats_uri.uri,
            "uri-reference": formats_uri.uri_reference,
            "iri": formats_uri.iri,
            "iri-reference": formats_uri.iri_reference,
            "uri-template": formats_uri.uri_template,
            "uuid": formats_code.uuid,
            "json-pointer": formats_code.json_pointer,
            "relative-json-pointer": formats_code.relative_json_pointer,
            "byte": formats_code.byte,
            "regex": formats_regex.regex,
        }.items()
    }
)

BEFORE_IDNA: Mapping[str, Callable[[], Regular]] = MappingProxyType({"hostname": _once(formats_net.plain_hostname, "")})
"""What drafts 4 and 6 understand otherwise: their host names know no Punycode. Exact, unlike the later one."""

NARROWER: Mapping[str, str] = MappingProxyType(
    {
        "hostname": "labels with '--' in third place (Punycode, whose validity is no regular question) are left out",
        "email": "domains with '--' in third place of a label (Punycode), and a backslash before a blank, are left out",
        "idn-email": "names with characters beyond ASCII have at most 32, 21 or 16 characters (2, 3 or 4 bytes each); "
        "domains have left-to-right letters only; and what is left out of email",
        "regex": "patterns of ECMA-262 with the flag u and groups at most 4 deep; back references, named groups, \\0, "
        "and ranges and counts whose order only long comparisons show are left out",
    }
)
"""Format → why its language holds fewer strings than the format: the reason for an "approximated" report entry."""

_WIDER: Mapping[str, Callable[[], Regular]] = MappingProxyType(
    {
        "hostname": formats_net.plain_hostname,
        "email": formats_net.something_at_something,
        "idn-email": formats_net.something_at_something,
        "regex": formats_regex.no_syntax_error_at_once,
    }
)
"""For each of `NARROWER`: what every string of the format is in any case. What is negated is taken out as widely."""
