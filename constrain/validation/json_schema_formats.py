"""Formats judged by reading the string: calendars, address parsers, IDNA tables; independent of any grammar of ours.

`FORMAT_CHECKS` maps a format's name to a function `str → bool`, `NUMBER_CHECKS` to one of numbers. Formats not named
here are annotations.
Sources: RFC 3339 (times), 5321 and 6531 (mailboxes), 1123, 5891, 5892, 5893 (names), 3986 and 3987, 6570, 6901.
"""

from __future__ import annotations

import base64
import calendar
import ipaddress
import re
import unicodedata
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial

import idna
import regress

# ---------------------------------------------------------------- times

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")
_DURATION = re.compile(r"P(?=[0-9T])(?:(\d+W)|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)", re.ASCII)


def is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if not match:
        return False
    year, month, day = map(int, match.groups())
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 2000, month)[1]


def is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    if not match:
        return False
    hour, minute, second = (int(match[i]) for i in (1, 2, 3))
    ahead = (int(match[5]) * 60 + int(match[6])) * (-1 if match[4] == "-" else 1) if match[4] else 0
    if hour > 23 or minute > 59 or second > 60 or (match[4] and (int(match[5]) > 23 or int(match[6]) > 59)):
        return False
    return second < 60 or (hour * 60 + minute - ahead) % 1440 == 1439


def is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time(text[11:])


def is_time_local(text: str) -> bool:
    """The same clock in UTC, where a leap second may be anywhere: which zone is meant is not said."""
    match = _TIME.fullmatch(text + "Z")
    return bool(match) and is_time(f"{text[:6]}59{text[8:]}Z" if text[6:8] == "60" else text + "Z")


def is_date_time_local(text: str) -> bool:
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time_local(text[11:])


def is_duration(text: str) -> bool:
    match = _DURATION.fullmatch(text)
    if not match:
        return False
    if match[1]:
        return True
    return _without_gap(match.group(2, 3, 4)) and _without_gap(match.group(6, 7, 8))


def _without_gap(units: tuple[str | None, ...]) -> bool:
    present = [index for index, unit in enumerate(units) if unit]
    return not present or len(present) == present[-1] - present[0] + 1


# ---------------------------------------------------------------- addresses and names

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+")
_QUOTED = re.compile(r'"(?:[ !#-\[\]-~]|\\[ -~])*"')
_WIDE_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]+")
_WIDE_QUOTED = re.compile(r'"(?:[ !#-\[\]-~\x80-\U0010ffff]|\\[ -~])*"')
_NOT_IN_LABELS = re.compile("[\x00-,./:-@\\[-`{-\xa0\\s\uff0e\u3002\uff61\uff20]")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")


def is_ipv4(text: str) -> bool:
    octets = text.split(".")
    return len(octets) == 4 and all(
        one.isascii() and one.isdigit() and str(int(one)) == one and int(one) < 256 for one in (o[:4] for o in octets)
    )


def is_ipv6(text: str) -> bool:
    if not text.isascii() or "%" in text or "/" in text:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "." not in text or is_ipv4(text.rpartition(":")[2])


def is_plain_hostname(text: str) -> bool:
    """RFC 1123 alone, as drafts 4 and 6 have it."""
    return len(text) <= 253 and all(_LABEL.fullmatch(label) for label in text.split("."))


def is_hostname(text: str) -> bool:
    return len(text) <= 253 and all(_is_label(label) for label in text.split("."))


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    return label[2:4] != "--" or (label[:2].lower() == "xn" and _is_encoded_label(label))


def _is_encoded_label(label: str) -> bool:
    try:
        decoded = idna.ulabel(label)
        return idna.alabel(decoded).decode("ascii") == label.lower()
    except (idna.IDNAError, UnicodeError):
        return False


def is_idn_hostname(text: str) -> bool:
    labels = _DOTS.split(text)
    try:
        encoded = [_encoded(label) for label in labels]
        if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
            for label in labels:  # RFC 5893: one such character binds all labels
                idna.check_bidi(label, check_ltr=True)
    except (idna.IDNAError, UnicodeError):
        return False
    return len(".".join(encoded)) <= 253


def _encoded(label: str) -> str:
    if label.isascii():
        if not _is_label(label):
            raise idna.IDNAError(label)
        return label
    return idna.alabel(label).decode("ascii")


def is_email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    return len(local) <= 64 and _is_local(local, _ATOM, _QUOTED) and (_is_literal(domain) or is_hostname(domain))


def is_idn_email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    if len(local.encode("utf-8", "replace")) > 64 or not _is_local(local, _WIDE_ATOM, _WIDE_QUOTED):
        return False
    return _is_literal(domain) or _is_wide_domain(domain)


def _is_wide_domain(domain: str) -> bool:
    """Labels as RFC 6531 writes them: U-labels by form alone (no tables), or host name labels."""
    return all(_is_label(one) if one.isascii() else _is_wide_label(one) for one in domain.split("."))


def _is_wide_label(label: str) -> bool:
    return len(label) <= 63 and label[0] != "-" and label[-1] != "-" and not _NOT_IN_LABELS.search(label)


def _is_local(local: str, atom: re.Pattern[str], quoted: re.Pattern[str]) -> bool:
    return bool(quoted.fullmatch(local)) or all(atom.fullmatch(part) for part in local.split("."))


def _is_literal(domain: str) -> bool:
    if not (domain.startswith("[") and domain.endswith("]")):
        return False
    inside = domain[1:-1]
    return is_ipv6(inside[5:]) if inside[:5].lower() == "ipv6:" else is_ipv4(inside)


# ---------------------------------------------------------------- URIs
# Appendix B of RFC 3986 splits any string; then each part is held to its own characters.

_SPLIT = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_FUTURE = re.compile(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PLANES = "".join(f"{chr(p * 65536)}-{chr(p * 65536 + 65533)}" for p in range(1, 14)) + "\U000e1000-\U000efffd"
_WIDE = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + _PLANES
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_PART = r"A-Za-z0-9._~%!$&'()*+,;=\-"


class _Reference:
    """Judges references of one kind: `wide` are the characters beyond ASCII, `private` those of queries."""

    def __init__(self, wide: str, private: str):
        self.name = re.compile(f"[{_PART}{wide}]*")
        self.user = re.compile(f"[{_PART}{wide}:]*")
        self.path = re.compile(f"[{_PART}{wide}:@/]*")
        self.query = re.compile(f"[{_PART}{wide}{private}:@/?]*")
        self.fragment = re.compile(f"[{_PART}{wide}:@/?]*")

    def holds(self, text: str, *, absolute: bool) -> bool:
        match = _SPLIT.fullmatch(text)
        if not match or _BAD_PERCENT.search(text):
            return False
        scheme, authority, path, query, fragment = match.groups()
        if scheme is None:
            if absolute or (authority is None and ":" in path.split("/")[0]):
                return False
        elif not _SCHEME.fullmatch(scheme):
            return False
        if authority is None and path.startswith("//"):
            return False
        return (
            (authority is None or self._is_authority(authority))
            and bool(self.path.fullmatch(path))
            and bool(self.query.fullmatch(query or ""))
            and bool(self.fragment.fullmatch(fragment or ""))
        )

    def _is_authority(self, authority: str) -> bool:
        user, at, rest = authority.rpartition("@")
        if at and not self.user.fullmatch(user):
            return False
        host, colon, port = rest.rpartition(":")
        if not colon or "]" in port:
            host, port = rest, ""
        if port and not (port.isascii() and port.isdigit()):
            return False
        if host.startswith("[") and host.endswith("]"):
            return is_ipv6(host[1:-1]) or bool(_FUTURE.fullmatch(host[1:-1]))
        return bool(self.name.fullmatch(host))


_URI = _Reference("", "")
_IRI = _Reference(_WIDE, _PRIVATE)


def is_uri(text: str) -> bool:
    return _URI.holds(text, absolute=True)


def is_uri_reference(text: str) -> bool:
    return _URI.holds(text, absolute=False)


def is_iri(text: str) -> bool:
    return _IRI.holds(text, absolute=True)


def is_iri_reference(text: str) -> bool:
    return _IRI.holds(text, absolute=False)


_LITERALS = re.compile(f"(?:[!#$&'()*+,./0-9:;=?@A-Z\\[\\]_a-z~{_WIDE}{_PRIVATE}-]|%[0-9A-Fa-f]{{2}})*")
_NAME_CHARACTER = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
_VARIABLE = re.compile(rf"{_NAME_CHARACTER}(?:\.?{_NAME_CHARACTER})*(?::[1-9][0-9]{{0,3}}|\*)?")


def is_uri_template(text: str) -> bool:
    pieces = re.split(r"\{([^{}]*)\}", text)
    literals, expressions = pieces[::2], pieces[1::2]
    return all(_LITERALS.fullmatch(one) for one in literals) and all(_is_expression(one) for one in expressions)


def _is_expression(text: str) -> bool:
    variables = text[1:] if text[:1] and text[0] in "+#./;?&=,!@|" else text
    return all(_VARIABLE.fullmatch(one) for one in variables.split(","))


# ---------------------------------------------------------------- codes

_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_RELATIVE_POINTER = re.compile(r"(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~[01])*)*)")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def is_regex(text: str) -> bool:
    try:
        regress.Regex(text, "u")
    except regress.RegressError:
        return False
    return True


def is_base64url(text: str) -> bool:
    bare = text.rstrip("=")
    if text != bare and len(text) % 4:
        return False
    try:
        base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return False
    return len(text) - len(bare) < 3 and not set(text) & set("+/")


def is_uuid_of_version(version: int, text: str) -> bool:
    return bool(_UUID.fullmatch(text)) and uuid.UUID(text).version == version


def _full(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMAT_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "duration": is_duration,
    "ipv4": is_ipv4,
    "ipv6": is_ipv6,
    "hostname": is_hostname,
    "idn-hostname": is_idn_hostname,
    "email": is_email,
    "idn-email": is_idn_email,
    "uri": is_uri,
    "uri-reference": is_uri_reference,
    "iri": is_iri,
    "iri-reference": is_iri_reference,
    "uri-template": is_uri_template,
    "uuid": _full(_UUID),
    "json-pointer": _full(_POINTER),
    "relative-json-pointer": _full(_RELATIVE_POINTER),
    "byte": _full(_BASE64),
    "regex": is_regex,
    "ip-address": is_ipv4,
    "host-name": is_plain_hostname,
    "base64url": is_base64url,
    "char": lambda text: len(text) == 1,
    "date-time-local": is_date_time_local,
    "time-local": is_time_local,
    "full-date": is_date,
    "full-time": is_time,
    "partial-time": is_time_local,
    **{f"uuid{version}": partial(is_uuid_of_version, version) for version in range(1, 9)},
}

Number = int | float | Decimal


def _whole(low: int, high: int) -> Callable[[Number], bool]:
    return lambda value: low <= value <= high and value == int(value)


NUMBER_CHECKS: Mapping[str, Callable[[Number], bool]] = {
    "int8": _whole(-128, 127),
    "int16": _whole(-32768, 32767),
    "int32": _whole(-2147483648, 2147483647),
    "int64": _whole(-9223372036854775808, 9223372036854775807),
    "uint8": _whole(0, 255),
    "uint16": _whole(0, 65535),
    "uint32": _whole(0, 4294967295),
    "uint64": _whole(0, 18446744073709551615),
    "double-int": _whole(-9007199254740991, 9007199254740991),
}
"""The OpenAPI format registry; of strings they are not asked."""
