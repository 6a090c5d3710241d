"""Linting: what a specification says that its author can hardly mean, whatever it is written in.

finding.py      one thing found: code, severity, place, message, help      rules.py   the table of codes
positions.py    JSON pointers → line:column                                compiled.py   errors and reports as findings
lint.py         `lint` and `examine`: everything about one specification
places.py       the places of a JSON Schema                                json_schema.py   its rules, in order
*_rules.py      the rules, by what they look at
profile.py      what a hosted service accepts: a record and its check      openai_strict.py   OpenAI's record

Findings know nothing of JSON Schema: other front ends add rules of their own beside these.
"""
