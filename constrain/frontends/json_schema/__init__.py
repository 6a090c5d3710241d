"""JSON Schema: from a schema to a grammar, as an algebra of shapes.

options.py      how schemas are read and values are written
keywords.py     the keyword table            dialects.py   which keywords each draft has, and their readers
document.py     JSON text                    values.py     exact JSON values
resources.py    identifiers and anchors      scopes.py     where references lead
references.py   references while reading     registry.py   documents from folders
shapes.py       unions of records            intersect.py  ∩, ∪ and ¬ of shapes
read_*.py       one reader for each keyword  reading.py    what they say together
atoms.py        places and what joins them   build.py      places → shapes, lazily
emptiness.py    is anything left?            clauses.py    its least fixed point
overlaps.py     branches that share values   appearance.py the order of names
spelling.py     how values are spelt         emit.py       shapes → grammar terms
numbers*.py     languages of numbers         formats*.py   languages of formats
compile.py      all of it, in order
"""

from constrain.frontends.json_schema.compile import CompiledSchema, compile_schema
from constrain.frontends.json_schema.options import SchemaOptions

__all__ = ["CompiledSchema", "SchemaOptions", "compile_schema"]
