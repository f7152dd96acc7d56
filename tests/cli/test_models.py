"""Models that are found without a configuration file, and what `errand models` says of them."""

import json
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.script import local_tool, turn
from support.server import NO_OLLAMA, Server, ServerCase, binary, die_with_parent
from support.terminal import plain_environment

SECONDS_MAX = 60
TAGS = {"models": [{"name": "tiny:latest", "details": {"family": "llama"}},
                   {"name": "embed:latest", "details": {"family": "bert"}}]}


def chat(delta: dict, finish: str | None = None) -> dict:
    return {"object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


CALL = [chat({"tool_calls": [{"index": 0, "id": "c1", "type": "function",
                              "function": {"name": "look", "arguments": "{}"}}]}),
        chat({}, "tool_calls")]
HELLO = [chat({"content": "Hello."}), chat({}, "stop")]


class Vendor:
    """Answers GET by path, and POST with one stream after the other."""

    def __init__(self, pages: dict[str, tuple[int, dict]], *streams: list[dict]):
        self.asked: list[tuple[str, str]] = []  # paths and keys of GETs
        self.models: list[str] = []  # that POSTs named
        self.is_started = False
        left = list(streams)
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # noqa: N802
                key = self.headers.get("authorization") or self.headers.get("api-key", "")
                vendor.asked.append((self.path, key))
                status, body = pages.get(self.path, (404, {}))
                self.give(status, "application/json", json.dumps(body))

            def do_POST(self):  # noqa: N802
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                vendor.models.append(asked["model"])
                events = "".join(f"data: {json.dumps(event)}\n\n" for event in left.pop(0))
                self.give(200, "text/event-stream", events + "data: [DONE]\n\n")

            def give(self, status: int, kind: str, body: str) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.server_bind()
        self.host = f"127.0.0.1:{self.server.server_address[1]}"

    def start(self) -> "Vendor":
        """Until then, connections are refused."""
        self.server.server_activate()
        self.is_started = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def close(self) -> None:
        if self.is_started:
            self.server.shutdown()
        self.server.server_close()


class ModelsTest(ServerCase):
    def command(self, server: Server, *words: str) -> str:
        done = subprocess.run(
            [binary(), *words, "--server", server.url, "--key", server.key], timeout=SECONDS_MAX,
            capture_output=True, text=True, cwd=server.folder.name, preexec_fn=die_with_parent)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def listed(self, server: Server) -> dict:
        return server.client().request("GET", "/models").json()

    def ollama(self, *streams: list[dict]) -> Vendor:
        vendor = Vendor({"/api/tags": (200, TAGS),
                         "/v1/models": (200, {"data": [{"id": "tiny:latest"}]})}, *streams)
        self.addCleanup(vendor.close)
        return vendor

    def test_a_key_in_the_environment_brings_models_and_the_check_says_which_are_there(self):
        vendor = Vendor({"/v1/models": (200, {"data": [{"id": "gpt-5.5"}]})}).start()
        self.addCleanup(vendor.close)
        server = self.start_server(None, variables={
            "OPENAI_API_KEY": "secret", "OPENAI_BASE_URL": f"http://{vendor.host}/v1"})
        listed = json.loads(self.command(server, "models", "--json"))
        self.assertEqual(listed["defaultModelId"], "openai/gpt-5.5")
        self.assertEqual(
            [(model["id"], model["status"], model["statusMessage"]) for model in listed["models"]],
            [("openai/gpt-5.5", "reachable", None),
             ("openai/gpt-5.4-mini", "no_such_model", "the server does not list it"),
             ("demo", "reachable", None)])
        self.assertEqual(set(vendor.asked), {("/v1/models", "Bearer secret")})

    def test_any_model_of_a_vendor_with_a_key_can_be_named(self):
        vendor = Vendor({}, CALL, HELLO).start()
        self.addCleanup(vendor.close)
        server = self.start_server(None, variables={
            "XAI_API_KEY": "secret", "XAI_BASE_URL": f"http://{vendor.host}/v1"})
        client = server.client()
        run = client.create(prompt="Look.", modelId="xai/grok-9:new", tools=[local_tool("look")])
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()
        server.kill()
        client = server.restart().client()
        self.assertEqual(client.answer(run, call["toolUseId"], result="x").status, 204)
        with client.stream(run) as stream:
            end = list(stream)[-1].json()
        self.assertEqual((end["text"], end["model"]), ("Hello.", {
            "id": "xai/grok-9:new", "provider": "xai", "vendorModelId": "grok-9:new"}))
        self.assertEqual(vendor.models, ["grok-9:new", "grok-9:new"])
        self.assertEqual([model["id"] for model in self.listed(server)["models"]],
                         ["xai/grok-4.6", "xai/grok-4.3", "demo"])

    def test_a_chat_changes_to_any_model_of_a_vendor_with_a_key(self):
        vendor = Vendor({}, HELLO, HELLO).start()
        self.addCleanup(vendor.close)
        variables = {"XAI_API_KEY": "secret", "XAI_BASE_URL": f"http://{vendor.host}/v1"}
        server = self.start_server(None, variables=variables)
        place = ("--server", server.url, "--key", server.key)
        for words in (("chat", "--embedded"), ("chat", *place)):
            with tempfile.TemporaryDirectory(prefix="errand-test-") as folder:
                done = subprocess.run([binary(), *words], timeout=SECONDS_MAX, capture_output=True,
                                      text=True, cwd=folder, preexec_fn=die_with_parent,
                                      input="/model xai/grok-9:new\nHello\n/model openai/gpt\n",
                                      env=plain_environment(OLLAMA_HOST=NO_OLLAMA, **variables))
            self.assertEqual((done.returncode, done.stdout), (2, "Hello.\n"), done.stderr)
            self.assertIn("\nxai/grok-9:new, 1 turn, ", done.stderr)
            self.assertIn('errand: no model is called "openai/gpt"\nhint: models of openai need '
                          "the environment variable OPENAI_API_KEY", done.stderr)
        self.assertEqual(vendor.models, ["grok-9:new", "grok-9:new"])

    def test_a_model_of_a_vendor_without_a_key_names_the_variable(self):
        with tempfile.TemporaryDirectory(prefix="errand-test-") as folder:
            done = subprocess.run([binary(), "run", "--model", "openai/gpt-5.5", "Hello"],
                                  timeout=SECONDS_MAX, capture_output=True, text=True, cwd=folder,
                                  stdin=subprocess.DEVNULL, env=plain_environment(),
                                  preexec_fn=die_with_parent)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('no model is called "openai/gpt-5.5"', done.stderr)
        self.assertIn("models of openai need the environment variable OPENAI_API_KEY", done.stderr)

    def test_what_cannot_be_an_id_does_not_reach_a_vendor(self):
        server = self.start_server(None, variables={"GEMINI_API_KEY": "secret"})
        for name in ("../secrets", "a?key=b", "a b", "", "x" * 201, "/a", "a/"):
            answer = server.client().request("POST", "/agent-runs", {
                "prompt": "Hi", "modelId": f"google/{name}"})
            self.assertEqual((answer.status, answer.json()["code"]), (400, "invalid_model"), name)
            self.assertIn("cannot be the id of a model", answer.json()["hint"])

    def test_the_table_says_why_a_model_cannot_be_reached(self):
        vendor = Vendor({"/v1/models": (401, {"error": {"message": "Incorrect API key"}})}).start()
        self.addCleanup(vendor.close)
        models = [{"id": "a", "provider": "openai", "baseUrl": f"http://{vendor.host}/v1",
                   "apiKey": "wrong"},
                  {"id": "b", "provider": "openai-compatible", "baseUrl": f"http://{NO_OLLAMA}/v1"},
                  {"id": "c", "provider": "demo"}]
        server = self.start_server([turn("unused")], {"models": models, "defaultModel": "c"})
        rows = self.command(server, "models").splitlines()
        self.assertEqual(rows[0].split()[-1], "STATUS")
        self.assertTrue(rows[1].endswith("wrong key: Incorrect API key"), rows[1])
        self.assertIn("unreachable: cannot connect to 127.0.0.1:1", rows[2])
        self.assertTrue(rows[3].endswith("reachable"), rows[3])

    def test_a_deployment_of_azure_is_reachable_if_its_resource_takes_the_key(self):
        listed = (200, {"data": [{"id": "gpt-5.5-2026-04-14"}]})
        vendor = Vendor({"/openai/v1/models": listed,
                         "/openai/models?api-version=2024-10-21": listed}).start()
        self.addCleanup(vendor.close)
        entry = {"provider": "azure-openai", "vendorModelId": "mine", "apiKey": "secret"}
        models = [entry | {"id": "a", "baseUrl": f"http://{vendor.host}"},
                  entry | {"id": "b", "baseUrl": f"http://{vendor.host}/",
                           "apiVersion": "2024-10-21"},
                  entry | {"id": "c", "baseUrl": f"http://{vendor.host}/elsewhere"}]
        server = self.start_server([turn("unused")], {"models": models, "defaultModel": "a"})
        listed = json.loads(self.command(server, "models", "--json"))
        self.assertEqual(
            [(model["id"], model["status"], model["statusMessage"]) for model in listed["models"]],
            [("a", "reachable", None), ("b", "reachable", None),
             ("c", "unreachable", "there is no list of models; is the baseUrl right?")])
        self.assertEqual(set(vendor.asked), {
            ("/openai/v1/models", "secret"), ("/openai/models?api-version=2024-10-21", "secret"),
            ("/elsewhere/openai/v1/models", "secret")})

    def test_an_ollama_that_comes_after_the_server_is_found(self):
        vendor = self.ollama(HELLO)
        server = self.start_server(None, variables={"OLLAMA_HOST": vendor.host})
        vendor.start()
        listed = self.listed(server)
        self.assertEqual([model["id"] for model in listed["models"]], ["ollama/tiny", "demo"])
        self.assertEqual(listed["defaultModelId"], "ollama/tiny")
        client = server.client()
        with client.stream(client.create(prompt="Hi")) as stream:
            end = list(stream)[-1].json()
        self.assertEqual((end["text"], end["model"]), ("Hello.", {
            "id": "ollama/tiny", "provider": "ollama", "vendorModelId": "tiny:latest"}))

    def test_a_run_goes_on_with_a_found_model_after_a_restart(self):
        vendor = self.ollama(CALL, HELLO).start()
        server = self.start_server(None, variables={"OLLAMA_HOST": vendor.host})
        client = server.client()
        run = client.create(prompt="Look.", modelId="tiny:latest", tools=[local_tool("look")])
        with client.stream(run) as stream:
            call = stream.until("local_tool_call")[-1].json()
        server.kill()
        client = server.restart().client()
        self.assertEqual(client.answer(run, call["toolUseId"], result="x").status, 204)
        with client.stream(run) as stream:
            self.assertEqual(list(stream)[-1].json()["text"], "Hello.")

    def test_an_unknown_model_is_refused_with_those_that_are_there(self):
        vendor = self.ollama().start()
        server = self.start_server(None, variables={"OLLAMA_HOST": vendor.host})
        answer = server.client().request("POST", "/agent-runs",
                                         {"prompt": "Hi", "modelId": "ollama/large"})
        self.assertEqual((answer.status, answer.json()["candidates"]),
                         (400, ["ollama/tiny", "demo"]))

    def test_a_configured_ollama_lists_its_other_models_too(self):
        vendor = self.ollama().start()
        models = [{"id": "mine", "provider": "ollama", "vendorModelId": "mine",
                   "baseUrl": f"http://{vendor.host}/v1"}]
        server = self.start_server([turn("unused")], {"models": models, "defaultModel": "mine"})
        listed = self.listed(server)
        self.assertEqual([model["id"] for model in listed["models"]], ["mine", "ollama/tiny"])
        self.assertEqual(listed["defaultModelId"], "mine")


if __name__ == "__main__":
    import unittest

    unittest.main()
