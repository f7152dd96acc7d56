"""Checks bodies against the schemas of an OpenAPI document, with the jsonschema-rs of PyPI.

Reads {"components": ..., "bodies": [{"where", "schema", "value"}]} from stdin and writes a line for
each body that does not fit."""

import json
import sys

import jsonschema_rs


def main() -> None:
    task = json.load(sys.stdin)
    validators = {}
    for body in task["bodies"]:
        name = body["schema"]
        if name not in validators:
            validators[name] = jsonschema_rs.Draft202012Validator(
                {"$ref": f"#/components/schemas/{name}", "components": task["components"]})
        for error in validators[name].iter_errors(body["value"]):
            place = "/".join(str(step) for step in error.instance_path)
            print(f"{body['where']}: {name} /{place}: {error.message}")


if __name__ == "__main__":
    main()
