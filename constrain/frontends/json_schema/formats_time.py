"""Dates, times and durations of RFC 3339: the real calendar, and leap seconds where UTC has them.

A leap second is 23:59:60 in UTC, so at offset +oh:om it is written 23:59 + oh:om, and so on. That ties the hour before
to the hour after, and the minutes likewise; the language is the intersection of those two ties, each an alternation
over 24 or 60 values. Which days had a leap second is announced from time to time, and is not checked.
"""

from __future__ import annotations

from ...grammar.terms import LiteralSet, Regular, intersection, optional
from .formats_abnf import DIGIT, any_of, in_order, many, one_of

TWO_DIGITS = many(DIGIT, 2, 2)
HOUR = any_of(in_order(one_of("01"), DIGIT), in_order("2", one_of("0-3")))
SIXTY = in_order(one_of("0-5"), DIGIT)
FRACTION = optional(in_order(".", many(DIGIT, 1)))


def date() -> Regular:
    """full-date: every day of the proleptic Gregorian calendar, years 0000 to 9999."""
    long = in_order(LiteralSet(("01", "03", "05", "07", "08", "10", "12")), "-", _day(31))
    short = in_order(LiteralSet(("04", "06", "09", "11")), "-", _day(30))
    february = in_order("02-", _day(28))
    fourth = [value for value in range(0, 100, 4) if value]
    leap_year = any_of(
        in_order(TWO_DIGITS, LiteralSet(tuple(f"{value:02}" for value in fourth))),
        in_order(LiteralSet(tuple(f"{value:02}" for value in [0, *fourth])), "00"),
    )
    return any_of(in_order(many(DIGIT, 4, 4), "-", any_of(long, short, february)), in_order(leap_year, "-02-29"))


def _day(last: int) -> Regular:
    head = any_of(in_order("0", one_of("1-9")), in_order("1", DIGIT))
    if last == 28:
        return any_of(head, in_order("2", one_of("0-8")))
    return any_of(head, in_order("2", DIGIT), "30", *(["31"] if last == 31 else []))


def time() -> Regular:
    """full-time: the offset is required."""
    offset = any_of(one_of("Zz"), in_order(one_of("+-"), HOUR, ":", SIXTY))
    plain = in_order(HOUR, ":", SIXTY, ":", SIXTY, FRACTION, offset)
    return any_of(plain, _leap_second())


def _leap_second() -> Regular:
    def at(hour: Regular | str, minute: Regular | str, offset: Regular) -> Regular:
        return in_order(hour, ":", minute, ":60", FRACTION, offset)

    hours = [f"{hour:02}" for hour in range(24)]
    minutes = [f"{minute:02}" for minute in range(60)]
    utc = at("23", "59", one_of("Zz"))
    whole_hours = [at(hours[h], "59", in_order("+", hours[(h + 1) % 24], ":00")) for h in range(24)]
    east = intersection(
        any_of(*(at(h, TWO_DIGITS, in_order("+", h, ":", TWO_DIGITS)) for h in hours)),
        any_of(*(at(TWO_DIGITS, minutes[m], in_order("+", TWO_DIGITS, ":", minutes[m + 1])) for m in range(59))),
    )
    west = intersection(
        any_of(*(at(hours[h], TWO_DIGITS, in_order("-", hours[23 - h], ":", TWO_DIGITS)) for h in range(24))),
        any_of(*(at(TWO_DIGITS, minutes[m], in_order("-", TWO_DIGITS, ":", minutes[59 - m])) for m in range(60))),
    )
    return any_of(utc, *whole_hours, east, west)


def date_time() -> Regular:
    """date-time: a date, T or t, a full-time."""
    return in_order(date(), one_of("Tt"), time())


def time_local() -> Regular:
    """partial-time: no offset. A leap second may be anywhere, since where UTC has its midnight is not said."""
    return in_order(HOUR, ":", SIXTY, ":", any_of(SIXTY, "60"), FRACTION)


def date_time_local() -> Regular:
    """date-time without its offset."""
    return in_order(date(), one_of("Tt"), time_local())


def duration() -> Regular:
    """duration, appendix A: units in order and without gaps, weeks alone, no fractions."""
    number = many(DIGIT, 1)
    second = in_order(number, "S")
    minute = in_order(number, "M", optional(second))
    hour = in_order(number, "H", optional(minute))
    clock = in_order("T", any_of(hour, minute, second))
    day = in_order(number, "D")
    month = in_order(number, "M", optional(day))
    year = in_order(number, "Y", optional(month))
    return in_order("P", any_of(in_order(any_of(day, month, year), optional(clock)), clock, in_order(number, "W")))
