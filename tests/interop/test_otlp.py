"""Spans of runs reach a collector, in the form that OpenTelemetry defines."""

import json
import queue
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.node import INTEROP
from support.python_sdk import python_with_sdk
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

    def start(self, turns: list):
        return self.start_server(turns, {"telemetry": {"otlp": self.collector.url}})

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
