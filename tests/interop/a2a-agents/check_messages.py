"""Judges messages of A2A. Standard input is a JSON array of [version, type, value]; the output is
an array with what is wrong with them. Messages of 0.3 must fit the definition of this name in the
schema; those of 1.0 must be the message of this name in the protocol's protobuf, and have no member
that is unknown there.
Usage: check_messages.py SCHEMA_OF_0_3"""

import json
import sys
from pathlib import Path

import a2a.types
import jsonschema
from google.protobuf import json_format


def mistakes(schema: dict, version: str, kind: str, value: dict) -> list[str]:
    if version == "0.3":
        wanted = {"$ref": f"#/definitions/{kind}", "definitions": schema["definitions"]}
        found = jsonschema.Draft7Validator(wanted).iter_errors(value)
        return [f"{kind}: {one.message[:500]}" for one in found]
    try:
        json_format.ParseDict(value, getattr(a2a.types, kind)())
    except json_format.ParseError as error:
        return [f"{kind}: {error}"]
    return []


def main() -> None:
    schema = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = [one for message in json.load(sys.stdin) for one in mistakes(schema, *message)]
    json.dump(found, sys.stdout)


main()
