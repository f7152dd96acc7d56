"""Schemathesis makes requests up from /openapi.json: no answer is a 5xx, and none is of a status,
type or shape that the document does not tell.

ERRAND_API_FUZZ_SECONDS says for how long (`./dev check --long`: 300 s)."""

import os
import subprocess
import unittest
from pathlib import Path

from support.python_packages import python_with
from support.script import turn
from support.server import ServerCase, die_with_parent

FOLDER = Path(__file__).resolve().parent / "schemathesis"
ENVIRONMENTS = FOLDER.parent.parent.parent / "build" / "schemathesis"
SECONDS = int(os.environ.get("ERRAND_API_FUZZ_SECONDS") or "45")
SECONDS_TO_END = 240  # the fuzzer finishes what it has begun, and makes failures small
# A key of the configuration file: the fuzzer cannot revoke the key that it uses.
KEY = "mantyx_" + "f" * 64
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "response_headers_conformance",
          "allow_header_conformance", "ignored_auth")


class ApiFuzzTest(ServerCase):
    def test_every_answer_is_one_that_the_document_tells(self):
        python = python_with(FOLDER / "requirements.txt", ENVIRONMENTS)
        server = self.start_server(
            [turn("Hello."), turn("Again.")],
            {"workspaces": [{"slug": "default", "apiKeys": [KEY]}],
             "limits": {"runMs": 5000, "localToolTimeoutMs": 1000}})
        seed = os.environ.get("ERRAND_SEED") or "1"
        done = subprocess.run(
            [python.parent / "st", "--config-file", FOLDER / "schemathesis.toml", "run",
             f"{server.url}/openapi.json", "--url", server.url,
             "--header", f"Authorization: Bearer {KEY}", "--checks", ",".join(CHECKS),
             "--max-time", str(SECONDS), "--seed", seed, "--request-timeout", "20",
             "--continue-on-failure", "--no-color", "--warnings", "off",
             "--generation-database", "none"],
            cwd=server.folder.name, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=SECONDS + SECONDS_TO_END,
            preexec_fn=die_with_parent)
        self.assertEqual(done.returncode, 0, f"{done.stdout[-12000:]}\n{done.stderr[-2000:]}")
        self.assertTrue(server.running)
        self.assertEqual(server.client().request_at("GET", "/readyz").status, 200)


if __name__ == "__main__":
    unittest.main()
