"""What the transcripts of tests/wire have on the wire fits the schemas of /openapi.json: requests
that are accepted, answers, and events. A validator of PyPI judges."""

import json
import re
import subprocess
import unittest
from pathlib import Path

from support.python_packages import python_with
from support.script import turn
from support.server import ServerCase
from support.transcript import Exchange, parse

TESTS = Path(__file__).resolve().parent.parent
FOLDER = TESTS / "interop" / "schemathesis"
ENVIRONMENTS = TESTS.parent / "build" / "schemathesis"
FRAME = re.compile(r"id: \d+ \| event: (\w+) \| data: (.*)")
STATUS = re.compile(r"(\d{3})(?: (\S+))?")
SECONDS_MAX = 120
BODIES_MIN = 400  # fewer would mean that this test does not read the transcripts


class Document:
    def __init__(self, value: dict):
        self.schemas = value["components"]["schemas"]
        self.components = value["components"]
        self.operations = []
        for path, methods in value["paths"].items():
            pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
            self.operations += [(method.upper(), pattern, operation)
                                for method, operation in methods.items()]

    def operation(self, method: str, path: str) -> dict | None:
        for one, pattern, operation in self.operations:
            if one == method and pattern.fullmatch(path):
                return operation
        return None


def schema_in(place: dict) -> str:
    """The name of the schema of a JSON body; empty without one."""
    media = place.get("content", {}).get("application/json", {})
    return media.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]


def named(text: str) -> str:
    """Masked values have the type that they stand for."""
    return text.replace('"{time}"', '"2030-01-01T00:00:00Z"')


def without_nulls(value):
    """A request may have null for what it leaves out."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def as_json(lines: list[str]):
    try:
        return json.loads(named("".join(lines)))
    except ValueError:
        return None


def bodies_of(document: Document, exchange: Exchange, where: str) -> list[dict]:
    method, _, rest = exchange.sent[0].partition(" ")
    path = rest.split("   ")[0].split("?")[0]
    operation = document.operation(method, path)
    found = STATUS.match(exchange.expected[0]) if exchange.expected else None
    if not operation or not found:
        return []
    place = f"{where}: {method} {path} {found[1]}"
    out = []
    lines = exchange.sent[1:]
    if found[1].startswith("2") and lines and not any(line.startswith("@") for line in lines):
        if (name := schema_in(operation.get("requestBody", {}))) and (value := as_json(lines)):
            has_warnings = any('"warnings"' in line for line in exchange.expected)
            out.append({"where": place, "schema": name, "value": without_nulls(value),
                        "has_warnings": has_warnings})
    for line in exchange.expected[1:]:
        if frame := FRAME.fullmatch(line):
            out += [{"where": place, "schema": name, "value": json.loads(named(frame[2]))}
                    for name in ("Event", f"event.{frame[1]}")]
    if found[2] == "application/json":
        answer = operation["responses"].get(found[1])
        if answer is None:
            return [*out, {"where": place, "schema": "undocumented", "value": None}]
        value = as_json(exchange.expected[1:])
        if value is not None:
            out.append({"where": place, "schema": schema_in(answer), "value": value})
    return out


# Stored things have the members of the request that stores them, too.
REFERRED = {"Agent": ["AgentRequest"], "HttpTool": ["HttpToolRequest"]}
# Members that transcripts send although they mean nothing, and that are taken without a warning.
MEANINGLESS = ("ToolResult/later", "RunRequest/plan/steps")


class Naming:
    """Finds members of bodies that the document does not name."""

    def __init__(self, schemas: dict):
        self.schemas = schemas

    def resolved(self, schema: dict) -> list[dict]:
        """The schemas that the value may fit, with references followed."""
        found = []
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            for one in (name, *self.relatives(name)):
                found += self.resolved(self.schemas[one])
        for word in ("allOf", "anyOf", "oneOf"):
            for one in schema.get(word, []):
                found += self.resolved(one)
        return [*found, schema]

    def relatives(self, name: str) -> list[str]:
        """Schemas whose members a schema has besides its own, as its description says."""
        if name == "Event":
            return [one for one in self.schemas if one.startswith("event.")]
        if name.startswith("event."):
            return ["Event"]
        return REFERRED.get(name, [])

    def unnamed(self, schema: dict, value, place: str = "") -> list[str]:
        """Members without a description. A schema that names none leaves them all open."""
        parts = self.resolved(schema)
        if isinstance(value, list):
            items = [one["items"] for one in parts if isinstance(one.get("items"), dict)]
            return [line for at, item in enumerate(value) for one in items
                    for line in self.unnamed(one, item, f"{place}/{at}")]
        named: dict[str, list] = {}
        for one in parts:
            for name, property_ in one.get("properties", {}).items():
                named.setdefault(name, []).append(property_)
        is_open = any(one.get("additionalProperties") not in (None, False) for one in parts)
        if not isinstance(value, dict) or not named:
            return []
        out = [] if is_open else [f"{place}/{name}" for name in value if name not in named]
        for name, item in value.items():
            for one in named.get(name, []):
                out += self.unnamed(one, item, f"{place}/{name}") if isinstance(one, dict) else []
        return out


class OpenApiTest(ServerCase):
    def test_transcripts_fit_the_document(self):
        python = python_with(FOLDER / "requirements.txt", ENVIRONMENTS)
        server = self.start_server([turn("Hello.")])
        document = Document(server.client().request_at("GET", "/openapi.json").json())
        bodies = [body for path in sorted((TESTS / "wire").rglob("*.txt"))
                  for exchange in parse(path.read_text()).exchanges()
                  for body in bodies_of(document, exchange, str(path.relative_to(TESTS)))]
        self.assertEqual([body["where"] for body in bodies if body["schema"] not in
                          document.schemas], [])
        self.assertGreater(len(bodies), BODIES_MIN)
        naming = Naming(document.schemas)
        unnamed = {f"{body['where']}: {body['schema']}{member}"
                   for body in bodies if not body.pop("has_warnings", False)
                   for member in naming.unnamed({"$ref": body["schema"]}, body["value"])
                   if f"{body['schema']}{member}" not in MEANINGLESS}
        self.assertEqual(sorted(unnamed), [])
        done = subprocess.run(
            [python, FOLDER / "check_bodies.py"], text=True, capture_output=True, check=False,
            timeout=SECONDS_MAX,
            input=json.dumps({"components": document.components, "bodies": bodies}))
        self.assertEqual((done.stdout, done.stderr), ("", ""))


if __name__ == "__main__":
    unittest.main()
