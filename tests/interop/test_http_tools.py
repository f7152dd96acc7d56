"""HTTP tools against a server of the standard library: requests, answers, redirects, secrets."""

import http.server
import json
import threading
import urllib.parse

from support.script import turn
from support.server import ServerCase

ALLOW = {"network": {"allow": ["127.0.0.0/8"]}}
CANARY = "canary-http-61f0"


class Peer(http.server.ThreadingHTTPServer):
    """Remembers what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, dict, str]] = []
        self.elsewhere = ""
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def take(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        path = urllib.parse.urlparse(self.path).path
        if path == "/away":
            return self.answer(302, b"", {"Location": self.server.elsewhere + "/landed"})
        if path == "/private":
            return self.answer(302, b"", {"Location": "http://169.254.169.254/latest"})
        if path == "/fail":
            return self.answer(500, json.dumps(dict(self.headers)).encode())
        if path in ("/cut-error", "/cut-text"):
            # Where the server cuts a body, a part of the key stands before the cut.
            limit = 2000 if path == "/cut-error" else 1 << 20
            key = self.headers["X-Key"].encode()
            body = b"x" * (limit - len(key) + 2) + key + b"x" * limit
            return self.answer(500 if path == "/cut-error" else 200, body)
        if path == "/silent":
            self.close_connection = True
            return self.server.released.wait()  # until the test is over
        if path == "/large":
            return self.answer(200, b"x" * (3 << 20))
        told = {"data": {"items": [1, 2]}, "headers": dict(self.headers), "body": body}
        return self.answer(200, json.dumps(told).encode())

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = take

    def answer(self, status: int, body: bytes, headers: dict | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(b"" if self.command == "HEAD" else body)
        except OSError:
            pass  # the client has read enough

    def log_message(self, *_):
        pass


class HttpToolsTest(ServerCase):
    def setUp(self):
        self.peer, self.other = self.start_peer(), self.start_peer()
        self.peer.elsewhere = self.other.url

    def start_peer(self) -> Peer:
        peer = Peer()
        threading.Thread(target=peer.serve_forever, daemon=True).start()
        self.addCleanup(peer.server_close)
        self.addCleanup(peer.shutdown)
        self.addCleanup(peer.released.set)
        return peer

    def serve(self, turns=None, config=None):
        self.server = self.start_server(turns or [turn("?")], config or ALLOW)
        self.api = self.server.client()
        self.api.request("PUT", "/secrets/TOKEN", {"value": CANARY})

    def store(self, name: str, path: str, **http_members) -> None:
        others = {key: http_members.pop(key) for key in ("parameters", "timeoutMs", "annotations")
                  if key in http_members}
        made = self.api.request("PUT", f"/tools/{name}",
                                {"http": {"url": self.peer.url + path, **http_members}, **others})
        self.assertIn(made.status, (200, 201), made.body)

    def try_tool(self, name: str, **arguments) -> dict:
        answer = self.api.request("POST", f"/tools/{name}/test", {"arguments": arguments})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def test_a_run_calls_a_stored_tool(self):
        self.serve([turn(calls=[("add", {"id": "a/b", "n": 7, "tags": ["x"]})]), turn("Done.")])
        self.store("add", "/people/{{args.id}}", method="POST", result="/data/items",
                   query={"q": "{{args.q}}", "k": "a b"},
                   headers={"Authorization": "Bearer {{secret:TOKEN}}", "X-Plain": "pl4in-key"},
                   body={"n": "{{args.n}}", "tags": "{{args.tags}}", "gone": "{{args.gone}}"})
        run = self.api.create(prompt="Go.", tools=[{"kind": "mantyx", "id": "add"}])
        events = [frame.json() for frame in self.api.log(run)]
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertEqual((result["ok"], result["result"]), (True, "[1,2]"))
        method, path, headers, body = self.peer.seen[0]
        self.assertEqual((method, path), ("POST", "/people/a%2Fb?k=a%20b"))
        self.assertEqual(headers["Authorization"], f"Bearer {CANARY}")
        self.assertEqual(headers["X-Plain"], "pl4in-key")
        self.assertEqual(headers["Idempotency-Key"], result["toolUseId"])
        self.assertEqual(json.loads(body), {"n": 7, "tags": ["x"]})
        bindings = self.api.request("GET", f"/agent-runs/{run}/journal").json()["entries"][0][
            "bindings"]
        self.assertEqual((bindings[0]["name"], bindings[0]["kind"], bindings[0]["source"]),
                         ("add", "mantyx", {"id": "http", "version": "1"}))
        self.check_data(self.server)

    def test_a_run_keeps_the_version_that_it_was_made_with(self):
        wait = {"kind": "local", "name": "wait"}
        self.serve([turn(calls=[("wait", {})]), turn(calls=[("look", {})]), turn("Done.")])
        self.store("look", "/one")
        run = self.api.create(prompt="Go.", tools=[wait, {"kind": "mantyx", "id": "look"}])
        with self.api.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        self.store("look", "/two")
        self.api.answer(run, call, result="go on")
        self.api.log(run)
        self.assertEqual([seen[1] for seen in self.peer.seen], ["/one"])

    def test_a_deleted_tool_is_not_called(self):
        wait = {"kind": "local", "name": "wait"}
        self.serve([turn(calls=[("wait", {})]), turn(calls=[("look", {})]), turn("Done.")])
        self.store("look", "/one")
        run = self.api.create(prompt="Go.", tools=[wait, {"kind": "mantyx", "id": "look"}])
        with self.api.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()["toolUseId"]
        self.assertEqual(self.api.request("DELETE", "/tools/look").status, 204)
        self.api.answer(run, call, result="go on")
        events = [frame.json() for frame in self.api.log(run)]
        result = next(one for one in events if one["type"] == "tool_result")
        self.assertIn("was deleted", result["result"])
        self.assertEqual(self.peer.seen, [])

    def test_keys_do_not_follow_a_redirect_to_another_host(self):
        self.serve()
        self.store("away", "/away", headers={"Authorization": "Bearer {{secret:TOKEN}}",
                                             "X-Plain": "pl4in-key"})
        self.assertTrue(self.try_tool("away")["ok"])
        self.assertEqual(self.peer.seen[0][2]["Authorization"], f"Bearer {CANARY}")
        landed = self.other.seen[0]
        self.assertEqual(landed[1], "/landed")
        self.assertNotIn(CANARY, json.dumps(landed))
        self.assertNotIn("pl4in-key", json.dumps(landed))

    def test_a_redirect_of_a_request_with_effects_is_not_followed(self):
        self.serve()
        self.store("away", "/away", method="POST")
        answer = self.try_tool("away")
        self.assertFalse(answer["ok"])
        self.assertIn("status 302", answer["result"])
        self.assertEqual(self.other.seen, [])

    def test_every_method_is_sent_as_such(self):
        self.serve()
        bodies = {"GET": "", "HEAD": "", "POST": '{"n":7}', "PUT": '{"n":7}', "PATCH": '{"n":7}',
                  "DELETE": ""}
        for method, body in bodies.items():
            with self.subTest(method):
                more = {"body": {"n": "{{args.n}}"}} if body else {}
                self.store("send", "/things/{{args.n}}", method=method, **more)
                answer = self.try_tool("send", n=7)
                self.assertTrue(answer["ok"], answer)
                seen = self.peer.seen.pop()
                self.assertEqual((seen[0], seen[1], seen[3]), (method, "/things/7", body))
        self.assertEqual(self.peer.seen, [])

    def test_a_call_has_the_time_of_its_tool(self):
        self.serve([turn(calls=[("ask", {}), ("order", {})]), turn("Nobody answers.")])
        self.store("ask", "/silent", timeoutMs=300)
        self.store("order", "/silent", method="POST", timeoutMs=300)
        tools = [{"kind": "mantyx", "id": name} for name in ("ask", "order")]
        events = [frame.json() for frame in self.api.log(self.api.create(prompt="Go.",
                                                                         tools=tools))]
        results = {one["name"]: one for one in events if one["type"] == "tool_result"}
        self.assertEqual({name: one["ok"] for name, one in results.items()},
                         {"ask": False, "order": False})
        self.assertEqual(sum(seen[0] == "POST" for seen in self.peer.seen), 1)
        self.assertEqual(events[-1]["subtype"], "success")
        self.check_data(self.server)

    def test_only_allowed_addresses_are_reached(self):
        self.serve()
        self.store("private", "/private")
        answer = self.try_tool("private")
        self.assertFalse(answer["ok"])
        self.assertIn("169.254.169.254", answer["result"])
        self.serve(config={"limits": {}})
        self.store("look", "/")
        answer = self.try_tool("look")
        self.assertFalse(answer["ok"])
        self.assertEqual([seen[1] for seen in self.peer.seen], ["/private"])

    def test_what_the_peer_says_is_shown_without_secrets(self):
        self.serve()
        for name, path in (("look", "/"), ("fail", "/fail")):
            self.store(name, path, headers={"Authorization": "Bearer {{secret:TOKEN}}"},
                       query={"k": "{{secret:TOKEN}}"})
            answer = self.try_tool(name)
            self.assertEqual(answer["ok"], name == "look")
            self.assertIn("[redacted]", answer["result"])
            self.assertNotIn(CANARY, answer["result"])
        self.check_data(self.server)
        for path in [*self.server.data.rglob("*"), self.server.errors_path]:
            if path.is_file():
                self.assertNotIn(CANARY.encode(), path.read_bytes(), path)

    def test_a_secret_is_not_shown_in_part_where_an_answer_is_cut(self):
        self.serve()
        for path in ("/cut-error", "/cut-text"):
            self.store("cut", path, headers={"X-Key": "{{secret:TOKEN}}"})
            self.assertNotIn(CANARY[:4], self.try_tool("cut")["result"])

    def test_answers_have_limits_and_results_a_place(self):
        self.serve()
        self.store("large", "/large")
        self.assertTrue(self.try_tool("large")["result"].endswith("its end is missing]"))
        self.store("nowhere", "/", result="/data/none")
        self.assertIn("nothing at /data/none", self.try_tool("nowhere")["result"])

    def test_a_secret_that_is_not_set_is_told_by_its_name(self):
        self.serve()
        self.store("look", "/", headers={"Authorization": "{{secret:NOBODY}}"})
        self.assertIn('there is no secret "NOBODY"', self.try_tool("look")["result"])
        self.assertEqual(self.peer.seen, [])
