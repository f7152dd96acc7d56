"""The guide's proxies in front of a server: they speak TLS, and events pass as they come."""

import json
import os
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from support.system.debian_program import debian_program
from support.documents import ROOT, blocks_of, free_port
from support.script import local_tool, turn
from support.server import ServerCase, die_with_parent

PAGE = ROOT / "docs" / "guide" / "service.md"
SECONDS_MAX = 30
POLL_SECONDS = 0.05
SCRIPT = [turn(calls=[("ask", {"about": "x"})]), turn("Done.")]
CERTIFICATE = ("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
               "-subj /CN=localhost -addext subjectAltName=DNS:localhost "
               "-keyout privkey.pem -out fullchain.pem").split()


class ProxyTest(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="errand-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.port = free_port()
        self.site = f"https://localhost:{self.port}"

    def configuration(self, language: str) -> str:
        """The page's, in front of a server of this test."""
        block = next(block for block in blocks_of(PAGE) if block.language == language)
        return block.text.replace("127.0.0.1:7300", f"127.0.0.1:{self.server.port}")

    def start(self, *command: str, **variables: str) -> None:
        with (self.folder / "proxy.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={"HOME": str(self.folder), "PATH": os.environ["PATH"]} | variables,
                preexec_fn=die_with_parent)
        self.addCleanup(process.wait, SECONDS_MAX)
        self.addCleanup(process.terminate)
        self.proxy = process

    def open(self, path: str, body: dict | None = None):
        headers = {"Authorization": f"Bearer {self.server.key}",
                   "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.site + path, data, headers)
        trusted = ssl.create_default_context(cafile=str(self.authority))
        return urllib.request.urlopen(request, timeout=SECONDS_MAX, context=trusted)

    def wait_until_it_serves(self) -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            try:
                self.open("/readyz").close()
                return
            except (OSError, ssl.SSLError):
                said = (self.folder / "proxy.log").read_text(errors="replace")
                self.assertTrue(self.proxy.poll() is None and time.monotonic() < deadline, said)
                time.sleep(POLL_SECONDS)  # paced: a proxy does not say when it is ready

    def check_that_events_pass_as_they_come(self) -> None:
        """The call is seen while the run waits for its answer: nothing holds it back."""
        runs = f"/api/v1/workspaces/{self.server.workspace}/agent-runs"
        spec = {"prompt": "Go.", "tools": [local_tool("ask", about="string")]}
        with self.open(runs, spec) as made:
            run = json.load(made)["runId"]
        seen = []
        with self.open(f"{runs}/{run}/stream") as stream:
            for line in stream:
                if not line.startswith(b"data: "):
                    continue
                event = json.loads(line.removeprefix(b"data: "))
                seen.append(event["type"])
                if event["type"] == "local_tool_call":
                    answer = {"toolUseId": event["toolUseId"], "result": "y"}
                    self.open(f"{runs}/{run}/tool-results", answer).close()
        self.assertIn("local_tool_call", seen)
        self.assertEqual(seen[-1], "result")

    def test_nginx_passes_events_as_they_come(self):
        program = debian_program("nginx", "usr/sbin/nginx")
        self.server = self.start_server(SCRIPT)
        subprocess.run(CERTIFICATE, cwd=self.folder, check=True, capture_output=True)
        self.authority = self.folder / "fullchain.pem"
        server = self.configuration("nginx").replace("listen 443", f"listen {self.port}")
        server = server.replace("/etc/letsencrypt/live/errand.example.com", str(self.folder))
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n"
            f"client_body_temp_path {self.folder};\nproxy_temp_path {self.folder};\n"
            f"fastcgi_temp_path {self.folder};\nuwsgi_temp_path {self.folder};\n"
            f"scgi_temp_path {self.folder};\n{server}}}\n")
        self.start(program, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"),
                   "-e", "stderr", "-g", "daemon off; master_process off;")
        self.wait_until_it_serves()
        self.check_that_events_pass_as_they_come()

    def test_caddy_passes_events_as_they_come(self):
        program = debian_program("caddy", "usr/bin/caddy")
        self.server = self.start_server(SCRIPT)
        (self.folder / "Caddyfile").write_text(self.configuration("caddyfile"))
        home = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        adapted = subprocess.run([program, "adapt", "--config", "Caddyfile"], cwd=self.folder,
                                 env=home | {"ERRAND_SITE": self.site}, check=True,
                                 capture_output=True, text=True)
        config = json.loads(adapted.stdout)
        # For names such as localhost, Caddy is its own authority; this machine need not trust it.
        config["admin"] = {"disabled": True}
        config["apps"]["pki"] = {"certificate_authorities": {"local": {"install_trust": False}}}
        config["apps"]["http"]["http_port"] = free_port()
        (self.folder / "caddy.json").write_text(json.dumps(config))
        self.authority = self.folder / ".local/share/caddy/pki/authorities/local/root.crt"
        self.start(program, "run", "--config", "caddy.json")
        self.wait_until_it_serves()
        self.check_that_events_pass_as_they_come()


if __name__ == "__main__":
    unittest.main()
