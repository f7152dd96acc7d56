"""`errand run --web-search`, with search services that this test plays."""

import http.server
import json
import subprocess
import threading

from support.embedded import EmbeddedCase
from support.script import turn
from support.server import binary, die_with_parent
from support.terminal import SECONDS_MAX, plain_environment

HITS = [{"title": f"Page {n}", "url": f"https://example.com/{n}", "text": f"Text {n}.",
         "content": f"Text {n}.", "description": f"<b>Text</b> {n}."} for n in range(1, 8)]


class FakeSearch(http.server.BaseHTTPRequestHandler):
    """Answers as Exa, Brave and Tavily do; keeps what it was asked."""

    def answer(self, asked: dict) -> None:
        self.server.asked.append((self.path.partition("?")[0], asked, dict(self.headers)))
        body = json.dumps({"results": HITS, "web": {"results": HITS}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self):
        self.answer({"query": self.path.partition("?")[2]})

    def log_message(self, *_):
        pass


class WebSearchTest(EmbeddedCase):
    scripts = {"searching": [turn(calls=[("web_search", {"query": "bread", "num_results": 2})]),
                             turn("Found.")]}

    def setUp(self):
        super().setUp()
        self.service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FakeSearch)
        self.service.asked = []
        threading.Thread(target=self.service.serve_forever, daemon=True).start()
        self.addCleanup(self.service.server_close)
        self.addCleanup(self.service.shutdown)
        self.url = f"http://127.0.0.1:{self.service.server_address[1]}"

    def search(self, **variables: str) -> list[dict]:
        """The results of the run's calls."""
        done = subprocess.run(
            [binary(), "run", "Go.", "--config", str(self.config), "--web-search", "--json"],
            cwd=self.cwd, env=plain_environment(**variables), capture_output=True,
            preexec_fn=die_with_parent, timeout=SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        events = [json.loads(line) for line in done.stdout.decode().splitlines()]
        return [event for event in events if event["type"] == "tool_result"]

    def test_each_service_gives_title_url_and_snippet(self):
        for name in ("EXA", "BRAVE", "TAVILY"):
            with self.subTest(name=name):
                result = self.search(**{f"{name}_API_KEY": "k", f"{name}_BASE_URL": self.url})[0]
                self.assertTrue(result["ok"], result)
                self.assertEqual(result["result"],
                                 "1. Page 1\nhttps://example.com/1\nText 1.\n\n"
                                 "2. Page 2\nhttps://example.com/2\nText 2.")
        self.assertEqual([(path, asked.get("numResults") or asked.get("max_results"))
                          for path, asked, _ in self.service.asked],
                         [("/search", 2), ("/res/v1/web/search", None), ("/search", 2)])

    def test_without_a_key_the_model_is_told_so(self):
        result = self.search()[0]
        self.assertFalse(result["ok"])
        self.assertIn("no key of a search service is set", result["result"])
        self.assertEqual(self.service.asked, [])
