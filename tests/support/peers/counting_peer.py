"""A server that counts the requests of each call, by their Idempotency-Key."""

import http.server
import threading


class CountingPeer(http.server.ThreadingHTTPServer):
    """Counts how often each call was made. It serves until it is closed."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Effect)
        self.lock = threading.Lock()
        self.counts: dict[str, dict[str, int]] = {"GET": {}, "POST": {}}
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class Effect(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def count(self):
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        key = self.headers["Idempotency-Key"]
        with self.server.lock:
            counts = self.server.counts[self.command]
            counts[key] = counts.get(key, 0) + 1
        body = b'{"data":"counted"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = count
    do_POST = count

    def log_message(self, *_):
        pass
