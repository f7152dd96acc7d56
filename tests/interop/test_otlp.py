"""Spans of runs reach a collector, in the form that OpenTelemetry defines."""

import json
import queue
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.peers.counting_mcp import CountingMcp
from support.node import INTEROP
from support.python_sdk import python_with_sdk
from support.peers.room_peer import RoomPeer
from support.script import turn
from support.server import ServerCase

FOLDER = INTEROP / "otlp"
SECONDS_MAX = 60
CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Collector:
    """Answers every request with the status that is set, and keeps the bodies."""

    def __init__(self):
        self.status = 200
        self.bodies: queue.Queue[str] = queue.Queue()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                collector.bodies.put(body)
                self.send_response(collector.status)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def spans(self, count: int) -> tuple[list[dict], list[str]]:
        """The first `count` spans, and the bodies that they came in."""
        spans, bodies = [], []
        while len(spans) < count:
            body = self.bodies.get(timeout=SECONDS_MAX)
            bodies.append(body)
            spans += json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]
        return spans, bodies

    def named(self, *names: str) -> dict[str, dict]:
        """A span of each name, once all of them have come."""
        found: dict[str, dict] = {}
        while not found.keys() >= set(names):
            found |= {span["name"]: span for span in self.spans(1)[0]}
        return found


def texts(span: dict) -> dict[str, str]:
    """The attributes of a span that are texts."""
    return {one["key"]: one["value"]["stringValue"] for one in span["attributes"]
            if "stringValue" in one["value"]}


class OtlpTest(ServerCase):
    def setUp(self):
        super().setUp()
        self.collector = Collector()
        self.addCleanup(self.collector.close)

    @staticmethod
    def create(client, traceparent: str, **spec) -> str:
        made = client.request("POST", "/agent-runs", {"prompt": "Go."} | spec,
                              {"traceparent": traceparent})
        return made.json()["runId"]

    @staticmethod
    def metrics(client) -> str:
        return client.request_at("GET", "/metrics").body.decode()

    def start(self, turns: list, config: dict | None = None):
        return self.start_server(turns, {"telemetry": {"otlp": self.collector.url}}
                                 | (config or {}))

    def test_a_run_its_turns_and_its_calls_are_one_trace(self):
        python = python_with_sdk(FOLDER / "requirements.txt")
        server = self.start([turn(calls=[("calculator", {"expression": "2+3"})]), turn("Five.")])
        client = server.client()
        run = self.create(client, CALLER,
                          tools=[{"kind": "mantyx_plugin", "name": "calculator"}])
        client.log(run)
        spans, bodies = self.collector.spans(4)
        self.assertEqual({span["traceId"] for span in spans}, {CALLER.split("-")[1]})
        root = next(span for span in spans if span["name"] == "invoke_agent")
        self.assertEqual(root["parentSpanId"], CALLER.split("-")[2])
        others = [span for span in spans if span is not root]
        self.assertEqual({span["parentSpanId"] for span in others}, {root["spanId"]})
        read = []
        for body in bodies:
            judged = subprocess.run([python, FOLDER / "read_traces.py"], input=body, text=True,
                                    capture_output=True, check=False, timeout=SECONDS_MAX)
            self.assertEqual(judged.returncode, 0, judged.stderr)
            read += json.loads(judged.stdout)
        self.assertEqual(sorted(span["name"] for span in read),
                         ["chat scripted", "chat scripted", "execute_tool calculator",
                          "invoke_agent"])

    def test_a_call_in_a_room_is_part_of_the_runs_trace(self):
        server = self.start([turn(calls=[("kit_run", {})]), turn("Done.")])
        client = server.client()
        client.request("POST", "/rooms", {"name": "hall"})
        token = client.request("POST", "/rooms/hall/tokens", {"name": "shop"}).json()["token"]
        with RoomPeer(server.url, "hall", token).ready() as host:
            host.ask("room.register_toolkit", {"name": "kit", "public": True, "tools": {"run": {}}})
            run = self.create(client, CALLER, room="hall")
            number, _, call, _ = host.until("room.tool_call.kit")
            host.send("room.tool_call_response", {"type": "empty"}, message_id=number)
            client.log(run)
        names = ("chat scripted", "execute_tool kit_run", "invoke.kit.run", "invoke_agent")
        by_name = self.collector.named(*names)
        tool, invoke = by_name["execute_tool kit_run"], by_name["invoke.kit.run"]
        self.assertEqual({by_name[name]["traceId"] for name in names}, {CALLER.split("-")[1]})
        self.assertEqual(invoke["parentSpanId"], tool["spanId"])
        self.assertEqual(call["__meshagent__"]["otel"]["traceparent"],
                         f"00-{invoke['traceId']}-{invoke['spanId']}-01")

    def test_calls_of_what_a_room_itself_offers_are_spans_of_their_callers_trace(self):
        server = self.start([turn("unused")])
        client = server.client()
        client.request("POST", "/rooms", {"name": "hall"})
        token = client.request("POST", "/rooms/hall/tokens",
                               {"name": "ann", "api": {"storage": {}}}).json()["token"]
        with RoomPeer(server.url, "hall", token).ready() as ann:
            ann.ask("room.invoke_tool", {
                "toolkit": "storage", "tool": "list", "arguments": {"type": "json",
                                                                    "json": {"path": "secret"}},
                "__meshagent__": {"v": 1, "otel": {"traceparent": CALLER}}})
        span = self.collector.named("invoke.storage.list")["invoke.storage.list"]
        self.assertEqual((span["traceId"], span["parentSpanId"]), tuple(CALLER.split("-")[1:3]))
        said = texts(span)
        self.assertEqual((said["room"], said["caller.name"], said["response_type"]),
                         ("hall", "ann", "json"))
        self.assertNotIn("secret", str(span))

    def test_a_call_of_an_mcp_server_says_which(self):
        mcp = CountingMcp()
        self.addCleanup(mcp.server_close)
        self.addCleanup(mcp.shutdown)
        server = self.start([turn(calls=[("shop_order", {})]), turn("Done.")],
                            {"network": {"allow": ["127.0.0.0/8"]}})
        client = server.client()
        run = self.create(client, CALLER, name="clerk",
                          tools=[{"kind": "mcp", "name": "shop", "url": mcp.url}])
        client.log(run)
        spans = self.collector.named("execute_tool shop_order", "invoke_agent clerk")
        said = texts(spans["execute_tool shop_order"])
        self.assertEqual({key: said.get(key) for key in (
            "gen_ai.tool.type", "mcp.method.name", "network.transport", "server.address")}, {
                "gen_ai.tool.type": "extension", "mcp.method.name": "tools/call",
                "network.transport": "tcp", "server.address": "127.0.0.1"})
        self.assertIn({"key": "server.port", "value": {"intValue": str(mcp.server_address[1])}},
                      spans["execute_tool shop_order"]["attributes"])
        self.assertRegex(said["mcp.protocol.version"], r"^20\d\d-\d\d-\d\d$")
        self.assertEqual(texts(spans["invoke_agent clerk"])["gen_ai.agent.name"], "clerk")

    def test_a_collector_that_never_answers_holds_up_neither_runs_nor_the_end(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            server = self.start_server([turn("Hello.")], {"telemetry": {"otlp": url}})
            client = server.client()
            self.assertEqual(client.log(client.create(prompt="Go."))[-1].json()["subtype"],
                             "success")
            deaf.settimeout(SECONDS_MAX)
            asked, _ = deaf.accept()
            with asked:
                self.assertTrue(asked.recv(1).startswith(b"P"))
                # The request hangs, and spans gather behind it.
                for _ in range(20):
                    events = client.log(client.create(prompt="Go."))
                    self.assertEqual(events[-1].json()["subtype"], "success")
                self.assertIn("errand_spans_sent_total 0\n", self.metrics(client))
                self.assertEqual(server.terminate(), 0)

    def test_a_trace_that_is_not_sampled_has_no_spans(self):
        server = self.start([turn("Hello.")])
        client = server.client()
        client.log(self.create(client, CALLER[:-2] + "00"))
        client.log(client.create(prompt="Go."))
        spans, _ = self.collector.spans(2)
        self.assertNotIn(CALLER.split("-")[1], {span["traceId"] for span in spans})

    def test_a_collector_that_refuses_costs_no_run_anything(self):
        self.collector.status = 400
        server = self.start([turn("Hello.")])
        client = server.client()
        events = client.log(client.create(prompt="Go."))
        self.assertEqual(events[-1].json()["subtype"], "success")
        self.collector.bodies.get(timeout=SECONDS_MAX)
        # The refusal is counted once the answer has been read.
        while "errand_spans_dropped_total 0" in (text := self.metrics(client)):
            pass
        self.assertRegex(text, r"(?m)^errand_spans_dropped_total [1-9]")
        self.assertIn("errand_spans_sent_total 0\n", text)
