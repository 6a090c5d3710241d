"""The formats that are enforced: for each name, the regular language of the decoded strings that have it.

`FORMATS` maps a name to a function that builds its term on first use and keeps it. `NARROWER` lists what a language
leaves out on purpose, for the report. What is let in always has the format. `NUMBER_FORMATS` are formats of numbers,
and `EXCLUDES_NOTHING` those that say how a value is stored or shown, which every value of its type satisfies.

Besides the formats of the drafts, names are here that a public definition gives one meaning: those of draft 3, of the
OpenAPI format registry, of RFC 3339's grammar, and `uuid4` with its kin, which Pydantic writes. Others (`url`,
`color`, `semver`) mean different things to different people, and stay annotations.

`formats_time`   date, time, date-time, duration: RFC 3339
`formats_net`    ipv4, ipv6, hostname, email, idn-email: RFC 4291, 1123, 5321, 6531
`formats_idn`    idn-hostname: RFC 5890 to 5893
`formats_uri`    uri, uri-reference, iri, iri-reference, uri-template: RFC 3986, 3987, 6570
`formats_regex`  regex: ECMA-262
`formats_code`   uuid, json-pointer, relative-json-pointer, byte, base64url: RFC 9562, 6901, 4648
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial
from types import MappingProxyType

from ...grammar.terms import Alternation, And, Not, Regular, shared
from . import formats_code, formats_idn, formats_net, formats_regex, formats_time, formats_uri
from .numbers import NumberConstraint

__all__ = [
    "BEFORE_IDNA",
    "EXCLUDES_NOTHING",
    "FORMATS",
    "NARROWER",
    "NUMBER_FORMATS",
    "ORIGINS",
    "is_narrower",
    "wider",
]


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
            "idn-hostname": formats_idn.idn_hostname,
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
            "ip-address": formats_net.ipv4,
            "host-name": formats_net.plain_hostname,
            "base64url": formats_code.base64url,
            "char": formats_code.char,
            "date-time-local": formats_time.date_time_local,
            "time-local": formats_time.time_local,
            "full-date": formats_time.date,
            "full-time": formats_time.time,
            "partial-time": formats_time.time_local,
            **{f"uuid{version}": partial(formats_code.uuid_of_version, version) for version in range(1, 9)},
        }.items()
    }
)

ORIGINS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("ip-address", "host-name"), "draft 3"),
        **dict.fromkeys(("base64url", "char", "date-time-local", "time-local", "byte"), "OpenAPI"),
        **dict.fromkeys(("full-date", "full-time", "partial-time"), "RFC 3339"),
        **{f"uuid{version}": "Pydantic" for version in range(1, 9)},
    }
)
"""Where the names come from that are in no draft since the fourth."""


def _integers(low: int, high: int) -> NumberConstraint:
    return NumberConstraint(Decimal(low), Decimal(high), integer=True)


NUMBER_FORMATS: Mapping[str, NumberConstraint] = MappingProxyType(
    {
        **{f"int{bits}": _integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
        **{f"uint{bits}": _integers(0, 2**bits - 1) for bits in (8, 16, 32, 64)},
        "double-int": _integers(1 - 2**53, 2**53 - 1),
    }
)
"""The formats of numbers in the OpenAPI format registry that exclude some. Of strings they are not asked."""

EXCLUDES_NOTHING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("float", "double"), "says in what precision a number is kept, and excludes none"),
        "utc-millisec": "says what a number counts, and excludes none",
        **dict.fromkeys(
            ("password", "binary", "commonmark", "html"), "says what a string holds or how it is shown; excludes none"
        ),
    }
)
"""Formats of draft 3 and OpenAPI that every value of their type has: why there is nothing to enforce."""

BEFORE_IDNA: Mapping[str, Callable[[], Regular]] = MappingProxyType({"hostname": _once(formats_net.plain_hostname, "")})
"""What drafts 4 and 6 understand otherwise: their host names know no Punycode. Exact, unlike the later one."""

NARROWER: Mapping[str, str] = MappingProxyType(
    {
        "hostname": "labels with '--' in third place (Punycode, whose validity is no regular question) are left out",
        "email": "domains with '--' in third place of a label (Punycode), and a backslash before a blank, are left out",
        "idn-hostname": "labels beyond ASCII have at most 11 to 19 characters of the basic plane, by script, and "
        "are at most 4; rare combining characters, joiners between Arabic letters, and '--' in third place (Punycode) "
        "are left out",
        "idn-email": "names with characters beyond ASCII have at most 32, 21 or 16 characters (2, 3 or 4 bytes each); "
        "domains have left-to-right letters only; and what is left out of email",
        "regex": "patterns of ECMA-262 with the flag u and groups at most 6 deep; group names with one first letter, "
        "references before their group or after an escaped parenthesis, and ranges and counts whose order only long "
        "comparisons show are left out",
    }
)
"""Format → why its language holds fewer strings than the format: the reason for an "approximated" report entry."""

_WIDER: Mapping[str, Callable[[], Regular]] = MappingProxyType(
    {
        "hostname": formats_net.plain_hostname,
        "email": formats_net.something_at_something,
        "idn-hostname": formats_net.something,
        "idn-email": formats_net.something_at_something,
        "regex": formats_regex.no_syntax_error_at_once,
    }
)
"""For each of `NARROWER`: what every string of the format is in any case. What is negated is taken out as widely."""
