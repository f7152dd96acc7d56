#!/usr/bin/env python3
"""Writes docs/guide/http-api.md from the server's own description of its API.

Usage: tools/http_reference.py [FILE]

Reads the document of `GET /openapi.json` from FILE, or from stdin, and writes the page to stdout.
tests/docs/test_http_api.py fails if the page of the guide is another one; `./dev test --update
docs/test_http_api` rewrites it.
"""

import json
import sys
from pathlib import Path

WORKSPACE = "/api/v1/workspaces/{workspace}"
EVENT = "event."
HIDDEN = {"Event", "OpenApi"}  # described by other sections
INTRODUCTION = """# The HTTP API

Every endpoint, with its parameters, bodies and errors. `tools/http_reference.py` writes this page
from `GET /openapi.json`, which the server writes from the table that it routes requests by.
Generators of clients can read that document; it is OpenAPI 3.1.

## Requests and answers

- Paths that begin with `...` are below `/api/v1/workspaces/{workspace}`, with the workspace's slug.
- Send a credential with every request: `Authorization: Bearer KEY` or `X-API-Key: KEY`. A
  restricted credential also needs the scope that the endpoint names.
- Bodies are JSON, with `Content-Type: application/json`. A member that is null counts as left out.
- A list answers a page. If `nextCursor` is not null, send it as `cursor` for the next page.
- Send `Idempotency-Key` with a request that creates something if you may have to repeat it: the
  repeated request gets the answer of the first and creates nothing.
- Secrets, agents and stored tools have versions; an answer's `ETag` is the version. To change only
  the version that you have read, send the `ETag` as `If-Match`. `If-Match: *` changes only what
  exists, and `If-None-Match: *` creates only what does not.
- Every answer has the header `x-request-id`. Send your own (1 to 64 letters, digits, dots,
  underscores and dashes) to find the request in the server's log.
- Any request can also meet these errors: {common}.
"""


def name_of(ref: str) -> str:
    return ref.rsplit("/", 1)[1]


def anchor(name: str) -> str:
    return name.lower().replace(".", "").replace(" ", "-")


def link(name: str) -> str:
    return f"[{name}](#{anchor(name)})"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def kind_of(schema) -> str:
    """The type of a value, for a table."""
    if not isinstance(schema, dict) or not schema:
        return "any"
    if "$ref" in schema:
        return link(name_of(schema["$ref"]))
    if "oneOf" in schema:
        return " or ".join(kind_of(one) for one in schema["oneOf"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        words = [word if isinstance(word, str) else json.dumps(word) for word in schema["enum"]]
        return ", ".join(f"`{word}`" for word in words)
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"array of {kind_of(schema.get('items'))}"
    return kind


def bounds_of(schema: dict) -> str:
    """Limits of a value, in words."""
    words = []
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        words.append(f"{low} to {high}")
    elif low is not None:
        words.append(f"at least {low}")
    for name, unit in (("maxLength", "characters"), ("maxItems", "items"),
                       ("maxProperties", "members")):
        if name in schema:
            words.append(f"at most {schema[name]} {unit}")
    if "default" in schema:
        words.append(f"default `{json.dumps(schema['default']).strip(chr(34))}`")
    return "; ".join(words)


def about(schema: dict, description: str = "") -> str:
    text = description or schema.get("description", "")
    bounds = bounds_of(schema)
    if not bounds:
        return text
    return f"{text} ({bounds})" if text else bounds[0].upper() + bounds[1:]


def member_table(schema: dict) -> list[str]:
    required = set(schema.get("required", []))
    lines = ["| member | type | |", "|---|---|---|"]
    for name, member in schema.get("properties", {}).items():
        star = "" if name in required or not required else " (optional)"
        lines.append(f"| `{name}`{star} | {cell(kind_of(member))} | {cell(about(member))} |")
    return lines


def parameter_table(parameters: list[dict]) -> list[str]:
    lines = ["| parameter | type | |", "|---|---|---|"]
    for one in parameters:
        text = about(one["schema"], one.get("description", ""))
        lines.append(f"| `{one['name']}` | {cell(kind_of(one['schema']))} | {cell(text)} |")
    return lines


def short_path(path: str) -> str:
    return "..." + path[len(WORKSPACE):] if path.startswith(WORKSPACE + "/") else path


def body_of(content: dict) -> str:
    """The schema of a body, and its type if that is not JSON."""
    (media, value), = content.items()
    if media == "text/event-stream":
        return "[events](#events)"
    kind = kind_of(value["schema"])
    return kind if media == "application/json" else f"{kind} as `{media}`"


def answers_of(operation: dict) -> list[str]:
    lines = []
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            continue
        body = f" {body_of(answer['content'])}" if "content" in answer else ""
        lines.append(f"- {status}{body}: {answer['description']}")
    return lines


def errors_of(operation: dict, common: set[str]) -> str:
    words = []
    for status, answer in operation["responses"].items():
        if int(status) < 400:
            continue
        codes = [code for code in answer["description"].split(", ") if code not in common]
        if codes:
            words.append(f"{status} {', '.join(codes)}")
    return "; ".join(words)


def header_line(headers: list[dict]) -> str:
    return "Headers: " + ", ".join(f"`{one['name']}`" for one in headers) + "."


def operation_lines(path: str, method: str, operation: dict, common: set[str]) -> list[str]:
    lines = [f"### {method.upper()} {short_path(path)}", "", operation["summary"]]
    if "description" in operation:
        lines[-1] += " " + operation["description"]
    lines.append("")
    if "x-scope" in operation:
        lines += [f"Scope: `{operation['x-scope']}`.", ""]
    shown = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    if shown:
        lines += [*parameter_table(shown), ""]
    headers = [one for one in operation.get("parameters", []) if one["in"] == "header"]
    if headers:
        lines += [header_line(headers), ""]
    if "requestBody" in operation:
        optional = "" if operation["requestBody"]["required"] else " (optional)"
        lines += [f"- Body: {body_of(operation['requestBody']['content'])}{optional}"]
    lines += answers_of(operation)
    if errors := errors_of(operation, common):
        lines.append(f"- Errors: {errors}")
    return [*lines, ""]


def common_errors(document: dict) -> set[str]:
    """Codes that every operation names."""
    shared: set[str] | None = None
    for methods in document["paths"].values():
        for operation in methods.values():
            codes = {code for status, answer in operation["responses"].items()
                     if int(status) >= 400 for code in answer["description"].split(", ")}
            shared = codes if shared is None else shared & codes
    return shared or set()


def schema_lines(name: str, schema: dict) -> list[str]:
    lines = [f"### {name}", ""]
    if schema.get("description"):
        lines += [schema["description"], ""]
    if "allOf" in schema:
        base = " and ".join(kind_of(one) for one in schema["allOf"])
        lines += [f"The members of {base}, and:", ""]
    if schema.get("properties"):
        lines += [*member_table(schema), ""]
    elif "additionalProperties" in schema:
        inner = schema["additionalProperties"]
        lines += [f"An object whose values are {kind_of(inner)}"
                  f"{' (' + bounds_of(inner) + ')' if bounds_of(inner) else ''}.", ""]
    elif "oneOf" in schema or "enum" in schema or "type" in schema:
        lines += [f"{kind_of(schema)}{': ' + bounds_of(schema) if bounds_of(schema) else ''}", ""]
    for one in schema.get("oneOf", []):
        if one.get("properties"):
            lines += [*member_table(one), ""]
    if "example" in schema:
        lines += ["```json", json.dumps(schema["example"], ensure_ascii=False), "```", ""]
    return lines


def render(document: dict) -> str:
    common = common_errors(document)
    ordered = [f"`{one['code']}`" for one in document["x-error-codes"]
               if f"`{one['code']}`" in common]
    lines = INTRODUCTION.replace("{common}", ", ".join(ordered)).split("\n")
    for tag in document["tags"]:
        lines += [f"## {tag['name']}", "", tag["description"], ""]
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    lines += operation_lines(path, method, operation, common)
    schemas = document["components"]["schemas"]
    lines += ["## Events", "", schemas["Event"]["description"],
              "`result`, `error` and `cancelled` are the last event of a run.", ""]
    for name, schema in schemas.items():
        if name.startswith(EVENT):
            lines += schema_lines(name.removeprefix(EVENT), schema)
    lines += ["## Bodies", "", "Members without a mark are always present in answers.", ""]
    for name, schema in schemas.items():
        if not name.startswith(EVENT) and name not in HIDDEN:
            lines += schema_lines(name, schema)
    lines += ["## Error codes", "", "The body of an error is an [Error](#error-1).", "",
              "| status | code | meaning |", "|---|---|---|"]
    for one in document["x-error-codes"]:
        lines.append(f"| {one['status']} | `{one['code']}` | {cell(one['description'])} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    text = Path(sys.argv[1]).read_text() if len(sys.argv) > 1 else sys.stdin.read()
    sys.stdout.write(render(json.loads(text)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
