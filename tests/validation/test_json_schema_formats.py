"""Two readings of each format, written apart: the judge's and the front end's, on mutated strings."""

from __future__ import annotations

import random
import re

import jsonschema_rs
import pytest

from constrain.frontends.json_schema.formats import BEFORE_IDNA, FORMATS, NARROWER
from constrain.validation.json_schema_formats import FORMAT_CHECKS, is_plain_hostname
from tests.frontends.json_schema.term_oracle import denotes

SEEDS = {
    "date": ["2024-02-29", "1900-02-28", "2023-12-31", "0000-01-01"],
    "time": ["23:59:60Z", "01:29:60.5+01:30", "15:59:60-08:00", "00:00:00.000z", "12:30:59+23:59"],
    "date-time": ["2016-12-31T23:59:60Z", "1985-04-12t23:20:50.52+01:00"],
    "duration": ["P1Y2M3DT4H5M6S", "P12W", "PT1H30M", "P1M", "PT36S", "P10D"],
    "ipv4": ["192.168.0.1", "255.255.255.255", "0.0.0.0", "1.20.100.249"],
    "ipv6": ["::1", "1:2:3:4:5:6:7:8", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "::"],
    "hostname": ["example.com", "a-b.c1.d", "x" * 63 + ".org", "1.2.3"],
    "email": ["joe.b@example.com", '"a b\\" c"@x.org', "a+b@[127.0.0.1]", "x@[IPv6:::1]", "!#$%@a-b.c"],
    "uri": ["http://u:p@ex.com:80/a/b;c?d=e&f#g", "urn:a:b%20c", "file:/etc/x", "http://[::1]:8/", "a+1.b-c:", "x://[v1.f:]"],
    "uri-reference": ["//h/p?q#f", "/a/b", "a/b:c", "?q", "#f", "", "./a:b", "s:p"],
    "iri": ["http://ƒøø.com/∂?é#x", "urn:ä", "http://ex/\U00010000?\ue000"],
    "iri-reference": ["//ƒøø/∂", "é/b:c", "#ä"],
    "uri-template": ["/d/{term:1}/{+a.b,c*}{?x}", "a%41{%41b}", "{#v:1000}"],
    "uuid": ["2eb8aa08-AA98-11ea-b4aa-73b441d16380"],
    "json-pointer": ["/foo/0/a~0b~1", "", "/"],
    "relative-json-pointer": ["0#", "12/a~1", "1", "0"],
    "byte": ["QUJD", "QUI=", "QQ==", ""],
    "idn-email": ["δοκιμή@example.com", "실례@실례.테스트", '"é x"@a.b', "a@ex.com"],
}  # fmt: skip
ALPHABET = '0123456789abfzAFTZPxn-.:/@%[]#?+_~={}, "\\é\n٣'


def mutants(text: str, count: int, chance: random.Random) -> list[str]:
    found = []
    for _ in range(count):
        mutant = text
        for _ in range(chance.choice([1, 1, 2, 3])):
            at = chance.randint(0, len(mutant))
            piece = chance.choice([chance.choice(ALPHABET), mutant[at : at + 3], "", ""])
            mutant = mutant[:at] + piece + mutant[at + chance.choice([0, 1, 1]) :]
        found.append(mutant)
    return found


def is_left_out(text: str) -> bool:
    """What `formats.NARROWER` says of names and mailboxes."""
    name, _, host = text.rpartition("@")
    return any(label[2:4] == "--" for label in host.split(".")) or bool(re.search(r"\\ ", name))


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_both_readings_agree_on_mutants(name: str) -> None:
    chance = random.Random(7)
    texts = [one for seed in SEEDS[name] for one in [seed, *mutants(seed, 300, chance)]]
    for text in dict.fromkeys(texts):
        ours, judged = denotes(FORMATS[name](), text), FORMAT_CHECKS[name](text)
        if name == "idn-email" or (name in NARROWER and is_left_out(text)):
            assert judged or not ours, text
        else:
            assert ours == judged, text


def test_both_readings_of_plain_host_names_agree() -> None:
    chance = random.Random(7)
    for text in [one for seed in SEEDS["hostname"] for one in mutants(seed, 300, chance)]:
        assert denotes(BEFORE_IDNA["hostname"](), text) == is_plain_hostname(text), text


SECOND_JUDGE_DIFFERS = {"uri-template", "byte"}


@pytest.mark.parametrize("name", sorted(set(SEEDS) - SECOND_JUDGE_DIFFERS))
def test_what_we_admit_the_second_judge_admits(name: str) -> None:
    chance = random.Random(11)
    second = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)
    for text in [one for seed in SEEDS[name] for one in [seed, *mutants(seed, 300, chance)]]:
        if denotes(FORMATS[name](), text):
            assert second.is_valid(text), text
