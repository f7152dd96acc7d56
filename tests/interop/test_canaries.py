"""A canary in every place where a secret can be is found nowhere but in the requests to the host
that it is for: not in events, logs, errors, lists, exports, backups, metrics or traces, and not on
the disk.

Every peer is a gossip: it sends back all that it was sent, in answers and in errors."""

import json
import subprocess
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.script import turn
from support.server import ServerCase, binary, die_with_parent

SECONDS_MAX = 60
IN_TOOLS = {name: f"canary-{name.lower()}-5b1d09" for name in ("PATH", "HEADER", "QUERY", "BODY")}
INLINE = "canary-inline-77ab3e"
VENDOR = "canary-vendor-0c9f12"
SEARCH = "canary-search-e4d1a6"


class Gossip(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        told = json.dumps({"path": self.path, "headers": dict(self.headers), "body": body})
        self.server.heard.append(told)
        # A tool is answered, and everybody else is told what is wrong with the request.
        status = 200 if self.path.startswith("/tool") else 401
        answer = json.dumps({"told": told, "error": {"message": f"no: {told}"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST

    def log_message(self, *_):
        pass


class CanariesTest(ServerCase):
    def start_gossip(self) -> ThreadingHTTPServer:
        peer = ThreadingHTTPServer(("127.0.0.1", 0), Gossip)
        peer.heard = []
        peer.url = f"http://127.0.0.1:{peer.server_port}"
        threading.Thread(target=peer.serve_forever, daemon=True).start()
        self.addCleanup(peer.server_close)
        self.addCleanup(peer.shutdown)
        return peer

    def setUp(self):
        self.tool, self.vendor, self.search, self.traces = (self.start_gossip() for _ in range(4))
        calls = [("tell", {"x": 1}), ("web_search", {"query": "bread"})]
        self.server = self.start_server([turn(calls=calls), turn("Done.")], {
            "models": [
                {"id": "scripted", "provider": "scripted", "script": "scripted.json"},
                {"id": "vendor", "provider": "openai-compatible", "vendorModelId": "m",
                 "baseUrl": f"{self.vendor.url}/v1", "apiKey": VENDOR}],
            "search": {"provider": "exa", "apiKey": SEARCH, "baseUrl": self.search.url},
            "telemetry": {"otlp": self.traces.url},
            "network": {"allow": ["127.0.0.0/8"]}})
        self.client = self.server.client()

    def store_secrets(self) -> None:
        for name, value in IN_TOOLS.items():
            made = self.client.request("PUT", f"/secrets/{name}", {"value": value})
            self.assertEqual(made.status, 201, made.body)
        made = self.client.request("PUT", "/tools/tell", {"http": {
            "method": "POST", "url": f"{self.tool.url}/tool/{{{{secret:PATH}}}}",
            "headers": {"Authorization": "Bearer {{secret:HEADER}}", "X-Inline": INLINE},
            "query": {"k": "{{secret:QUERY}}"}, "body": {"k": "{{secret:BODY}}"}}})
        self.assertEqual(made.status, 201, made.body)

    def make_credentials(self) -> list[str]:
        """Secrets that the server gives out once, and keeps as hashes."""
        key = self.client.request("POST", "/api-keys", {"name": "guest"}).json()
        oauth = self.client.request("POST", "/oauth-clients",
                                    {"name": "portal", "scopes": ["runs:read"]}).json()
        return [key["apiKey"], oauth["clientSecret"], oauth["refreshToken"]]

    def answers(self, runs: list[str]) -> list[str]:
        """What whoever has a key can read."""
        paths = ["/agent-runs", "/tools", "/tools/tell", "/tools/tell/versions", "/secrets",
                 "/secrets/PATH", "/api-keys", "/oauth-clients", "/models", "/models?check=true"]
        for run in runs:
            paths += [f"/agent-runs/{run}", f"/agent-runs/{run}/events",
                      f"/agent-runs/{run}/journal"]
        told = [self.client.request("GET", path).body.decode() for path in paths]
        tried = self.client.request("POST", "/tools/tell/test", {"arguments": {}})
        self.assertEqual(tried.status, 200, tried.body)
        metrics = self.client.request_at("GET", "/metrics")
        return [*told, tried.body.decode(), metrics.body.decode()]

    def exports(self, runs: list[str]) -> list[str]:
        """What commands write."""
        folder = Path(self.server.folder.name)
        told = []
        for words in (*(("runs", "export", run) for run in runs), ("runs", "show", runs[0]),
                      ("backup", str(folder / "copy.db")), ("doctor",)):
            done = subprocess.run(
                [binary(), *words, *(() if words == ("doctor",) else ("--data", self.server.data))],
                cwd=folder, capture_output=True, timeout=SECONDS_MAX, check=False,
                preexec_fn=die_with_parent)
            if words != ("doctor",):
                self.assertEqual(done.returncode, 0, done.stderr)
            told += [done.stdout.decode("latin-1"), done.stderr.decode("latin-1")]
        return [*told, (folder / "copy.db").read_bytes().decode("latin-1")]

    def test_no_canary_leaves_its_place(self):
        self.store_secrets()
        credentials = self.make_credentials()
        runs = [self.client.create(prompt="Go.", tools=[
            {"kind": "mantyx", "id": "tell"}, {"kind": "mantyx_plugin", "name": "web_search"}])]
        shown = [frame.data.decode() for frame in self.client.log(runs[0])]
        runs.append(self.client.create(prompt="Go.", modelId="vendor"))
        shown += [frame.data.decode() for frame in self.client.log(runs[1])]

        # Each has come where it belongs.
        heard = {"tool": self.tool, "vendor": self.vendor, "search": self.search}
        for place, canaries in (("tool", [*IN_TOOLS.values(), INLINE]), ("vendor", [VENDOR]),
                                ("search", [SEARCH])):
            for canary in canaries:
                self.assertIn(canary, "".join(heard[place].heard), place)
                for other in set(heard) - {place}:
                    self.assertNotIn(canary, "".join(heard[other].heard), other)
        self.assertIn("[redacted]", "".join(shown))

        shown += self.answers(runs)
        self.server.stop()
        shown += self.exports(runs)
        shown += self.traces.heard
        self.assertTrue(self.traces.heard)
        shown += [path.read_bytes().decode("latin-1")
                  for path in [*self.server.data.rglob("*"), self.server.errors_path]
                  if path.is_file()]
        for canary in (*IN_TOOLS.values(), INLINE, VENDOR, SEARCH, *credentials):
            for text in shown:
                found = text.find(canary)
                self.assertEqual(found, -1, text[max(0, found - 200):found + 200])


if __name__ == "__main__":
    unittest.main()
