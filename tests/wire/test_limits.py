"""Every limit of what a caller may send: taken at it, refused past it with its name and place."""
# Long because every limit is tried twice.

import json
import re
from dataclasses import dataclass, field
from typing import Any

from support.http import Connection, Response, request_bytes
from support.script import local_tool, turn
from support.server import ServerCase

KIB = 1024
DAY_MS = 86_400_000
TOO_MANY_VALUES = b"[" + b"0," * 250_000 + b"0]"
# Whoever looks for an alternative that fits looks at 10 ** 12 of them.
HOSTILE_SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {
    f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(12)
} | {"d12": {"type": "string"}}}


@dataclass
class Limit:
    """`past` is refused with `pointer` and, where the limit has a name, with that and `max`."""

    name: str
    at: Any
    past: Any
    pointer: str
    limit: str = ""
    max: int = 0
    code: str = "invalid_request"

    def refusal(self) -> dict:
        expected = {"code": self.code, "pointer": self.pointer}
        if self.limit:
            expected |= {"limit": self.limit, "max": self.max}
        return expected


def tool_limit(name: str, at: dict, past: dict, pointer: str, limit: str = "",
               max: int = 0, code: str = "invalid_request") -> Limit:
    return Limit(name, {"tools": [at]}, {"tools": [past]}, f"/tools/0{pointer}", limit, max, code)


def schema_limit(name: str, at: dict, past: dict, pointer: str, limit: str, max: int) -> Limit:
    return tool_limit(name, at, past, f"/parameters{pointer}", limit, max, "too_complex")


def budget_limit(name: str, at: int, past: int) -> Limit:
    return Limit(f"{name} {past}", {"budgets": {name: at}}, {"budgets": {name: past}},
                 f"/budgets/{name}")


def loop_limit(name: str, at: int, past: int) -> Limit:
    return Limit(f"{name} {past}", {"loopDetection": {name: at}}, {"loopDetection": {name: past}},
                 f"/loopDetection/{name}")


def locals_(count: int, prefix: str = "t") -> list[dict]:
    return [{"kind": "local", "name": f"{prefix}{n}"} for n in range(count)]


def mcp_local(count: int, name: str = "s", **others) -> dict:
    tools = [{"name": f"{name}_{n}"} | others for n in range(count)]
    return {"kind": "mcp_local", "name": name, "tools": tools}


def mcp(**others) -> dict:
    return {"kind": "mcp", "name": "m", "url": "http://127.0.0.1:9"} | others


def a2a(**others) -> dict:
    return {"kind": "a2a", "name": "a", "agentCardUrl": "https://a"} | others


def object_of(size: int) -> dict:
    """An object whose JSON has so many bytes."""
    return {"x": "y" * (size - len('{"x":""}'))}


def url_of(size: int) -> str:
    start = "https://127.0.0.1:9/"
    return start + "a" * (size - len(start))


def headers(count: int) -> dict:
    return {f"X-{n}": "v" for n in range(count)}


def metadata_of(size: int) -> dict:
    """Metadata whose JSON has so many bytes, within every other limit."""
    made = {f"k{n:02}": "v" * 256 for n in range(15)}
    rest = size - len(json.dumps(made | {"k15": ""}, separators=(",", ":")))
    made["k15"] = "é" * (rest // 2) + "v" * (rest % 2)
    return made


def messages(count: int) -> list[dict]:
    return [{"role": "user", "content": "a"}] * count


def message(content: str = "a", **attachment: str) -> dict:
    """One message of the user's, with an attachment if something is said of one."""
    said = {"role": "user", "content": content}
    if attachment:
        said["attachments"] = [attachment]
    return {"messages": [said]}


def inline_file(**others: str) -> dict:
    whole = {"type": "input_file", "filename": "a", "mimeType": "a/b", "data": "Zm9v"}
    return message(**(whole | others))


def properties(count: int, **one) -> dict:
    """A tool whose schema has so many properties; `{n}` in their words is their number."""
    words = json.dumps(one)
    made = {f"p{n}": json.loads(words.replace("{n}", str(n))) for n in range(count)}
    return {"kind": "local", "name": "t", "parameters": {"type": "object", "properties": made}}


RUNS = [
    Limit("tools", {"tools": locals_(256)}, {"tools": locals_(257)}, "/tools", "tools", 256),
    Limit("tools as the model sees them",
          {"tools": [mcp_local(64, f"s{n}") for n in range(16)]},
          {"tools": [mcp_local(64, f"s{n}") for n in range(16)] + locals_(1)},
          "/tools", "offeredTools", 1024),
    Limit("messages", {"messages": messages(200)}, {"messages": messages(201)}, "/messages",
          "messages", 200),
    Limit("content of a message", message("ä" * 200_000), message("ä" * 200_001),
          "/messages/0/content", "messageChars", 200_000),
    Limit("filename", inline_file(filename="n" * 255), inline_file(filename="n" * 256),
          "/messages/0/attachments/0/filename"),
    Limit("mimeType", inline_file(mimeType="a/" + "b" * 253),
          inline_file(mimeType="a/" + "b" * 254), "/messages/0/attachments/0/mimeType"),
    Limit("URL of a file", message(type="input_file_url", url=url_of(2048)),
          message(type="input_file_url", url=url_of(2049)), "/messages/0/attachments/0/url",
          "urlBytes", 2048),
    Limit("name", {"name": "ä" * 200}, {"name": "ä" * 201}, "/name", "nameChars", 200),
    Limit("metadata entries", {"metadata": {f"k{n}": "" for n in range(16)}},
          {"metadata": {f"k{n}": "" for n in range(17)}}, "/metadata", "metadataEntries", 16),
    Limit("metadata key", {"metadata": {"k" * 64: ""}}, {"metadata": {"k" * 65: ""}},
          f"/metadata/{'k' * 65}"),
    Limit("metadata value", {"metadata": {"k": "ä" * 256}}, {"metadata": {"k": "ä" * 257}},
          "/metadata/k"),
    Limit("metadata bytes", {"metadata": metadata_of(4096)}, {"metadata": metadata_of(4097)},
          "/metadata", "metadataBytes", 4096),
    tool_limit("tool name", local_tool("n" * 64), local_tool("n" * 65), "/name"),
    tool_limit("tools of an MCP server", mcp_local(64), mcp_local(65), "/tools",
               "mcpLocalTools", 64),
    tool_limit("no tools of an MCP server", mcp_local(1), mcp_local(0), "/tools",
               "mcpLocalTools", 64),
    tool_limit("name of an MCP tool", mcp_local(1, "s" * 62), mcp_local(1, "s" * 63),
               "/tools/0/name"),
    tool_limit("annotations", mcp_local(1, annotations=object_of(256 * KIB)),
               mcp_local(1, annotations=object_of(256 * KIB + 1)), "/tools/0/annotations",
               "annotationsBytes", 256 * KIB),
    tool_limit("serverInfo", mcp_local(1) | {"serverInfo": object_of(256 * KIB)},
               mcp_local(1) | {"serverInfo": object_of(256 * KIB + 1)}, "/serverInfo",
               "serverInfoBytes", 256 * KIB),
    tool_limit("agentCard",
               {"kind": "a2a_local", "name": "a", "agentCard": object_of(256 * KIB)},
               {"kind": "a2a_local", "name": "a", "agentCard": object_of(256 * KIB + 1)},
               "/agentCard", "agentCardBytes", 256 * KIB),
    tool_limit("header value", mcp(headers={"A": "v" * 8192}), mcp(headers={"A": "v" * 8193}),
               "/headers/A", "headerValueBytes", 8192),
    tool_limit("headers", mcp(headers=headers(64)), mcp(headers=headers(65)), "/headers",
               "headers", 64),
    tool_limit("toolFilter", mcp(toolFilter=["a"] * 256), mcp(toolFilter=["a"] * 257),
               "/toolFilter", "toolFilter", 256),
    tool_limit("name in toolFilter", mcp(toolFilter=["a" * 2048]), mcp(toolFilter=["a" * 2049]),
               "/toolFilter/0"),
    schema_limit("pattern", properties(1, pattern="a" * 4096), properties(1, pattern="a" * 4097),
                 "/properties/p0/pattern", "patternBytes", 4096),
    schema_limit("memory of a pattern", properties(1, pattern=r"[\p{L}\p{N}]{2}"),
                 properties(1, pattern=r"[\p{L}\p{N}]{900}"), "/properties/p0/pattern",
                 "patternMemory", 512 * KIB),
    schema_limit("patterns", properties(128, pattern="a{n}"), properties(129, pattern="a{n}"),
                 "/properties/p128/pattern", "schemaPatterns", 128),
    # The schema itself is one of them.
    schema_limit("subschemas", properties(19_999), properties(20_000), "", "schemaNodes", 20_000),
    schema_limit("subschemas with an $id", properties(999, **{"$id": "u{n}"}),
                 properties(1000, **{"$id": "u{n}"}), "", "schemaResources", 1000),
    schema_limit("text of a schema", properties(1, pattern="a", title="t" * (2 * KIB * KIB - 256)),
                 properties(1, pattern="a", title="t" * (2 * KIB * KIB)), "", "schemaBytes",
                 2 * KIB * KIB),
    tool_limit("url", mcp(url=url_of(2048)), mcp(url=url_of(2049)), "/url", "urlBytes", 2048),
    tool_limit("agentCardUrl", a2a(agentCardUrl=url_of(2048)), a2a(agentCardUrl=url_of(2049)),
               "/agentCardUrl", "agentCardUrlBytes", 2048),
    tool_limit("contextId", a2a(contextId="c" * 2048), a2a(contextId="c" * 2049), "/contextId",
               "contextIdBytes", 2048),
    tool_limit("name of a plugin's tool", {"kind": "mantyx_plugin", "name": "n" * 2048},
               {"kind": "mantyx_plugin", "name": "n" * 2049}, "/name", "nameBytes", 2048),
    Limit("toolBudgets", {"toolBudgets": {f"t{n}": {"maxCalls": 1} for n in range(32)}},
          {"toolBudgets": {f"t{n}": {"maxCalls": 1} for n in range(33)}}, "/toolBudgets",
          "toolBudgets", 32),
    Limit("name in toolBudgets", {"toolBudgets": {"n" * 120: {"maxCalls": 1}}},
          {"toolBudgets": {"n" * 121: {"maxCalls": 1}}}, f"/toolBudgets/{'n' * 121}",
          "toolBudgetNameChars", 120),
    Limit("maxCalls", {"toolBudgets": {"a": {"maxCalls": 1000}}},
          {"toolBudgets": {"a": {"maxCalls": 1001}}}, "/toolBudgets/a/maxCalls"),
    Limit("maxCalls below", {"toolBudgets": {"a": {"maxCalls": 0}}},
          {"toolBudgets": {"a": {"maxCalls": -1}}}, "/toolBudgets/a/maxCalls"),
    loop_limit("consecutiveThreshold", 2, 1),
    loop_limit("consecutiveThreshold", 100, 101),
    loop_limit("hardCutoffThreshold", 3, 2),
    loop_limit("hardCutoffThreshold", 100, 101),
    Limit("thresholds side by side",
          {"loopDetection": {"consecutiveThreshold": 99, "hardCutoffThreshold": 100}},
          {"loopDetection": {"consecutiveThreshold": 100, "hardCutoffThreshold": 100}},
          "/loopDetection/hardCutoffThreshold"),
    budget_limit("maxToolTurns", 0, -1),
    budget_limit("maxToolTurns", 1000, 1001),
    budget_limit("localToolTimeoutMs", 1, 0),
    budget_limit("localToolTimeoutMs", DAY_MS, DAY_MS + 1),
    Limit("reasoningLevel", {"reasoningLevel": 100}, {"reasoningLevel": 101}, "/reasoningLevel"),
    Limit("reasoningLevel below", {"reasoningLevel": 0}, {"reasoningLevel": -1},
          "/reasoningLevel"),
]


@dataclass
class Query:
    """A parameter of a GET, by its path, with values that are taken and refused."""

    path: str
    name: str
    taken: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)


QUERIES = [
    Query("/agent-runs", "limit", [1, 200], [0, 201]),
    Query("/agent-runs/{run}/events", "limit", [1, 1000], [0, 1001]),
    Query("/agent-runs/{run}/events", "after", [0, 2**63 - 1], [-1, 2**63]),
    Query("/agent-runs/{run}/journal", "limit", [1, 1000], [0, 1001]),
    Query("/tool-calls", "limit", [1, 200], [0, 201]),
    # The call that is pending ends every wait at once.
    Query("/tool-calls", "wait", [0, 60], [-1, 61]),
]


def refusal_of(response: Response) -> dict:
    """What an error says, save its words."""
    body = response.json()
    return {key: body[key] for key in ("code", "pointer", "limit", "max") if key in body}


class LimitsTest(ServerCase):
    def test_what_a_run_is_created_with(self):
        client = self.start_server([turn("Hi.")]).client()
        for limit in RUNS:
            with self.subTest(limit.name):
                prompt = {} if "messages" in limit.at else {"prompt": "Hi"}
                at = client.request("POST", "/agent-runs", prompt | limit.at)
                self.assertEqual(at.status, 201, at.body[:500])
                past = client.request("POST", "/agent-runs", prompt | limit.past)
                self.assertEqual((past.status, refusal_of(past)), (400, limit.refusal()))

    def test_the_id_of_a_stored_tool(self):
        """No tool has an id of that length: up to the limit, the tool is unknown."""
        client = self.start_server([turn("Hi.")]).client()
        unknown = {"code": "invalid_request", "pointer": "/tools/0/id"}
        for length, refusal in ((2048, unknown),
                                (2049, unknown | {"limit": "idBytes", "max": 2048})):
            with self.subTest(length):
                tool = {"kind": "mantyx", "id": "i" * length}
                answer = client.request("POST", "/agent-runs", {"prompt": "Hi", "tools": [tool]})
                self.assertEqual((answer.status, refusal_of(answer)), (400, refusal))

    def start_waiting(self) -> tuple:
        """A client, a run that waits for it, and the call it waits for."""
        client = self.start_server([turn(calls=[("look", {})]), turn("Done.")]).client()
        run = client.create(prompt="Look.", tools=[local_tool("look")])
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        return client, run, call

    def test_parameters_of_lists(self):
        client, run, _ = self.start_waiting()
        for query in QUERIES:
            path = query.path.replace("{run}", run)
            for value, status in [*((value, 200) for value in query.taken),
                                  *((value, 400) for value in query.refused)]:
                with self.subTest(path=query.path, name=query.name, value=value):
                    response = client.request("GET", f"{path}?{query.name}={value}")
                    self.assertEqual(response.status, status, response.body[:500])

    def test_a_page_of_pending_calls_ends_with_the_one_that_makes_it_too_long(self):
        asked = [("hr", {"message": str(n)}) for n in range(20)]
        client = self.start_server([turn(calls=asked), turn("Done.")]).client()
        card = object_of(256 * KIB)
        run = client.create(prompt="Ask.", tools=[{"kind": "a2a_local", "name": "hr",
                                                   "agentCard": card}])
        with client.stream(run) as stream:
            stream.until("assistant_message")
        pages = [client.request("GET", "/tool-calls").json()]
        while cursor := pages[-1]["nextCursor"]:
            pages.append(client.request("GET", f"/tool-calls?cursor={cursor}").json())
        self.assertEqual([len(page["toolCalls"]) for page in pages], [16, 4])
        listed = [call["args"]["message"] for page in pages for call in page["toolCalls"]]
        self.assertEqual(listed, [str(n) for n in range(20)])

    def check_result(self, letter: str) -> None:
        max_bytes = 2 * KIB * KIB
        count = max_bytes // len(letter.encode())
        client, run, call = self.start_waiting()
        at = client.answer(run, call, result=letter * count)
        self.assertEqual(at.status, 204, at.body[:500])
        log = client.log(run)
        shown = next(frame for frame in log if frame.event == "local_tool_result_in").json()
        self.assertEqual(shown["fullLength"], max_bytes)
        self.assertEqual(log[-1].event, "result")

        # One byte more is refused, and the run goes on with a failure.
        client, run, call = self.start_waiting()
        past = client.answer(run, call, result=letter * count + "x")
        self.assertEqual((past.status, refusal_of(past)), (413, {
            "code": "too_large", "pointer": "/result", "limit": "resultBytes", "max": max_bytes}))
        log = client.log(run)
        shown = next(frame for frame in log if frame.event == "local_tool_result_in").json()
        self.assertIn("bytes, and at most", shown["error"])
        self.assertEqual(log[-1].event, "result")

    def test_a_result_of_two_megabytes(self):
        self.check_result("x")

    def test_a_result_of_two_megabytes_that_are_escaped(self):
        self.check_result("\u0001")

    def test_an_error_of_more_than_eight_kilobytes_is_cut(self):
        for text, note in (("ä" * 4 * KIB, "ä"), ("ä" * 5 * KIB, " bytes are left out]\nä")):
            client, run, call = self.start_waiting()
            self.assertEqual(client.answer(run, call, error=text).status, 204)
            log = client.log(run)
            shown = next(frame for frame in log if frame.event == "local_tool_result_in").json()
            self.assertIn(note, shown["error"])
            self.assertLessEqual(len(shown["error"].encode()), 8 * KIB)

    def test_how_long_a_claim_lasts(self):
        client, _, call = self.start_waiting()
        for millis in (0, DAY_MS + 1):
            past = client.request("POST", f"/tool-calls/{call}/claim", {"ttlMs": millis})
            self.assertEqual((past.status, refusal_of(past)),
                             (400, {"code": "invalid_request", "pointer": "/ttlMs"}))
        at = client.request("POST", f"/tool-calls/{call}/claim", {"ttlMs": DAY_MS})
        self.assertEqual(at.status, 200, at.body[:500])

    def test_an_idempotency_key(self):
        client = self.start_server([turn("Hi.")]).client()
        past = client.request("POST", "/agent-runs", {"prompt": "Hi"},
                              {"Idempotency-Key": "k" * 256})
        self.assertEqual((past.status, refusal_of(past)), (400, {
            "code": "invalid_request", "limit": "idempotencyKeyChars", "max": 255}))
        client.create("k" * 255, prompt="Hi")

    def test_the_name_of_a_key(self):
        client = self.start_server([turn("Hi.")]).client()
        past = client.request("POST", "/api-keys", {"name": "ä" * 201})
        self.assertEqual((past.status, refusal_of(past)["pointer"]), (400, "/name"))
        at = client.request("POST", "/api-keys", {"name": "ä" * 200})
        self.assertEqual(at.status, 201, at.body[:500])

    def test_the_length_of_a_body(self):
        client = self.start_server([turn("Hi.")], {"limits": {"bodyBytes": 4096}}).client()
        body = json.dumps({"prompt": "Hi"}).encode()
        at = client.request("POST", "/agent-runs", body.ljust(4096))
        self.assertEqual(at.status, 201, at.body[:500])
        past = client.request("POST", "/agent-runs", body.ljust(4097))
        self.assertEqual((past.status, refusal_of(past)), (413, {
            "code": "body_too_large", "limit": "bodyBytes", "max": 4096}))

    def test_the_length_of_a_body_by_default(self):
        client = self.start_server([turn("Hi.")]).client()
        body = json.dumps({"prompt": "Hi"}).encode()
        at = client.request("POST", "/agent-runs", body.ljust(32 * KIB * KIB))
        self.assertEqual(at.status, 201, at.body[:500])
        past = client.request("POST", "/agent-runs", body.ljust(32 * KIB * KIB + 1))
        self.assertEqual((past.status, refusal_of(past)), (413, {
            "code": "body_too_large", "limit": "bodyBytes", "max": 32 * KIB * KIB}))

    def test_how_many_connections_are_open(self):
        """One more than the configuration allows is answered once another has closed."""
        client = self.start_server([turn("Hi.")], {"limits": {"connections": 2}}).client()
        request = request_bytes("GET", "/metrics", client.headers(), None)

        def open_connections(connection: Connection) -> int:
            connection.send(request)
            text = connection.receive_response().body.decode()
            return int(re.search(r"^errand_http_connections (\d+)$", text, re.MULTILINE)[1])

        with Connection(client.address) as first, Connection(client.address) as second:
            for one in (first, second):
                open_connections(one)  # both have been accepted
            with Connection(client.address) as third:
                third.send(request)
                counts = [open_connections(one) for one in (first, second) * 10]
                self.assertEqual(set(counts), {2})
                second.close()
                self.assertEqual(third.receive_response().status, 200)

    def test_the_length_of_the_headers(self):
        client = self.start_server([turn("Hi.")]).client()

        def ask(head_bytes: int) -> Response:
            """A request whose line and headers have so many bytes."""
            short = request_bytes("GET", client.path("/models"), client.headers() | {"X-Pad": ""},
                                  None)
            headers = client.headers() | {"X-Pad": "p" * (head_bytes - len(short))}
            with Connection(client.address) as connection:
                connection.send(request_bytes("GET", client.path("/models"), headers, None))
                return connection.receive_response()

        at = ask(32 * KIB)
        self.assertEqual(at.status, 200, at.body[:500])
        past = ask(32 * KIB + 1)
        self.assertEqual((past.status, refusal_of(past)), (431, {
            "code": "headers_too_large", "limit": "headerBytes", "max": 32 * KIB}))

    def test_how_many_values_a_body_has(self):
        client = self.start_server([turn("Hello.")]).client()
        refusal = {"code": "too_complex", "limit": "jsonValues", "max": 250_000}
        # The values of the list, the list itself, the prompt and the object around them.
        for count, status in ((249_997, 201), (249_998, 400)):
            with self.subTest(count):
                answer = client.request("POST", "/agent-runs", {"prompt": "Hi", "x": [0] * count})
                self.assertEqual(answer.status, status, answer.body[:500])
        self.assertEqual(refusal_of(answer), refusal)
        session = client.request("POST", "/agent-sessions", {}).json()["sessionId"]
        said = client.request("POST", f"/agent-sessions/{session}/messages",
                              {"prompt": "Hi", "x": [0] * 250_000})
        self.assertEqual((said.status, refusal_of(said)), (400, refusal))

    def test_how_many_values_the_body_of_every_route_has(self):
        client = self.start_server([turn("Hello.")]).client()
        client.request("POST", "/agents", {"name": "known"})
        names = {"workspace": client.workspace, "runId": "run_none", "sessionId": "sess_none"}
        document = client.request_at("GET", "/openapi.json").json()
        refusal = {"code": "too_complex", "limit": "jsonValues", "max": 250_000}
        tried = 0
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                content = operation.get("requestBody", {}).get("content", {})
                # What needs no key of a workspace takes bodies of 64 KB.
                if "application/json" not in content or path.startswith("/accounts/"):
                    continue
                filled = re.sub(r"{(\w+)}", lambda name: names.get(name[1], "known"), path)
                with self.subTest(method=method, path=path):
                    answer = client.request_at(method.upper(), filled, TOO_MANY_VALUES)
                    self.assertEqual((answer.status, refusal_of(answer)), (400, refusal))
                tried += 1
        self.assertGreater(tried, 20)

    def test_how_many_values_a_message_of_mcp_has(self):
        client = self.start_server([turn("Hello.")]).client()
        answer = client.request("POST", "/mcp", TOO_MANY_VALUES, headers={
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
        self.assertEqual(answer.status, 400)
        self.assertEqual(answer.json()["error"]["data"],
                         {"code": "too_complex", "limit": "jsonValues", "max": 250_000})

    def test_how_many_steps_it_takes_to_check_arguments(self):
        client = self.start_server([turn("Hello.")]).client()
        made = client.request("POST", "/tools", {
            "name": "check", "parameters": HOSTILE_SCHEMA, "http": {"url": "http://127.0.0.1:9"}})
        self.assertEqual(made.status, 201, made.body[:500])
        refusal = {"code": "too_complex", "limit": "validationSteps", "max": 20_001}
        tried = client.request("POST", "/tools/check/test", {"arguments": {"a": 1}})
        self.assertEqual((tried.status, refusal_of(tried)),
                         (400, refusal | {"pointer": "/arguments"}))
        called = client.request("POST", "/mcp", {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "check", "arguments": {"a": 1}, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {}}}}, headers={
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "check"})
        self.assertEqual(called.json()["error"]["data"], refusal)

    def test_how_many_patterns_a_stored_tool_brings(self):
        client = self.start_server([turn("Hello.")]).client()
        for n in range(5):
            parameters = {"type": "object", "properties": {
                f"p{k}": {"pattern": f"^a{n}-{k}$"} for k in range(103)}}
            made = client.request("POST", "/tools", {
                "name": f"t{n}", "parameters": parameters, "http": {"url": "http://127.0.0.1:9"}})
            self.assertEqual(made.status, 201, made.body[:500])

        def create(tools: int) -> Response:
            refs = [{"kind": "mantyx", "id": f"t{n}"} for n in range(tools)]
            return client.request("POST", "/agent-runs", {"prompt": "Hi", "tools": refs})

        at, past = create(4), create(5)
        self.assertEqual(at.status, 201, at.body[:500])
        self.assertEqual((past.status, refusal_of(past)), (400, {
            "code": "too_complex", "pointer": "/tools", "limit": "toolPatterns", "max": 512}))

    def test_how_many_patterns_the_tools_of_a_run_have(self):
        client = self.start_server([turn("Hello.")]).client()

        def create(patterns: int) -> Response:
            texts = iter(range(patterns))
            tools = [local_tool(f"t{n}") | {"parameters": {
                "type": "object", "properties": {f"p{k}": {"pattern": f"^a{k}$"} for k in part}}}
                for n, part in enumerate(iter(lambda: [k for _, k in zip(range(64), texts)], []))]
            return client.request("POST", "/agent-runs", {"prompt": "Hi", "tools": tools})

        at, past = create(512), create(513)
        self.assertEqual(at.status, 201, at.body[:500])
        self.assertEqual((past.status, refusal_of(past)), (400, {
            "code": "too_complex", "pointer": "/tools", "limit": "toolPatterns", "max": 512}))

    def test_how_deep_a_body_is_nested(self):
        client = self.start_server([turn("Hi.")]).client()

        def nested(depth: int) -> bytes:
            """An array within the body's own object and so on, `depth` in all."""
            inner = b"[" * (depth - 1) + b"]" * (depth - 1)
            return b'{"prompt":"Hi","later":' + inner + b"}"

        at = client.request("POST", "/agent-runs", nested(200))
        self.assertEqual(at.status, 201, at.body[:500])
        past = client.request("POST", "/agent-runs", nested(201))
        self.assertEqual((past.status, past.json()["code"]), (400, "invalid_request"))


if __name__ == "__main__":
    import unittest

    unittest.main()
