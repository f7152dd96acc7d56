"""No tool leads a model to this machine: under no name of it, with a proxy or without."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.script import turn
from support.server import Server, ServerCase

SECRET = "the page of this machine"


class Page(BaseHTTPRequestHandler):
    """Takes requests to the machine and, as a proxy, those to anywhere, and counts them."""

    def answer(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        body = SECRET.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = answer
    do_CONNECT = answer

    def log_message(self, *_):
        pass


class OwnMachineTest(ServerCase):
    def setUp(self):
        self.page = self.serve_pages()
        self.proxy = self.serve_pages()
        port = self.page.server_address[1]
        self.names = [f"http://{host}:{port}/" for host in
                      ("localhost.", "localhost", "LOCALHOST.", "api.localhost.", "127.0.0.1",
                       "127.1", "0x7f.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0")]

    def serve_pages(self) -> ThreadingHTTPServer:
        pages = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        pages.asked = []
        self.addCleanup(pages.server_close)
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        self.addCleanup(pages.shutdown)
        return pages

    def start(self, with_proxy: bool, **network: str) -> Server:
        script = [turn(calls=[("web_fetch", {"url": url}) for url in self.names]), turn("Done.")]
        proxy = f"http://127.0.0.1:{self.proxy.server_address[1]}"
        variables = {"NO_PROXY": "", "no_proxy": ""}
        if with_proxy:
            variables |= {"HTTP_PROXY": proxy, "http_proxy": proxy}
        return self.start_server(script, {"network": network}, variables=variables)

    def assert_nothing_is_fetched(self, server: Server) -> None:
        client = server.client()
        run = client.create(prompt="Look around.",
                            tools=[{"kind": "mantyx_plugin", "name": "web_fetch"}])
        frames = client.log(run)
        results = [frame.json() for frame in frames if frame.event == "tool_result"]
        self.assertEqual([result["ok"] for result in results], [False] * len(self.names))
        self.assertNotIn(SECRET, str([frame.json() for frame in frames]))
        self.assertEqual((self.page.asked, self.proxy.asked), ([], []))

    def test_without_a_proxy(self):
        self.assert_nothing_is_fetched(self.start(with_proxy=False))

    def test_through_a_proxy(self):
        self.assert_nothing_is_fetched(self.start(with_proxy=True))

    def test_through_a_proxy_that_looks_names_up(self):
        self.assert_nothing_is_fetched(self.start(with_proxy=True, proxyNames="trusted"))


if __name__ == "__main__":
    import unittest

    unittest.main()
