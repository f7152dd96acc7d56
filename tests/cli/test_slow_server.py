"""What a command says of a server that takes its time."""

import subprocess
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.server import binary, die_with_parent

SECONDS_MAX = 60


class SlowServer(BaseHTTPRequestHandler):
    """Takes a cancel, and never ends the run."""

    def do_POST(self):  # noqa: N802
        body = b'{"ok":true,"status":"cancelled"}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # noqa: N802
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.server.is_over.wait()

    def log_message(self, *_):
        pass


class CancelTest(unittest.TestCase):
    def test_a_cancel_that_takes_long_is_told_as_such(self):
        with ThreadingHTTPServer(("127.0.0.1", 0), SlowServer) as server:
            server.is_over = threading.Event()
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_address[1]}"
            done = subprocess.run(
                [binary(), "runs", "cancel", "run_" + "0" * 26, "--server", url, "--key", "k"],
                capture_output=True, text=True, timeout=SECONDS_MAX, preexec_fn=die_with_parent)
            server.is_over.set()
            server.shutdown()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "cancelling\n", ""))


if __name__ == "__main__":
    unittest.main()
