"""The protocol's worked examples, as they are printed: tools of kinds `a2a_local` and `mcp_local`,
there and back, with a model of the name that they ask for."""

import tempfile
from pathlib import Path

from support.peers.a2a_peer import A2aPeer
from support.fake_model import FakeModel
from support.mcp_probe import ensure_servers, package
from support.node import NODE, SECONDS_MAX, start_node
from support.script import turn
from support.server import ServerCase
from support.vendor_case import model_entry

MODEL = "openai:gpt-5.5"


class WorkedExamplesTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_servers()

    def setUp(self):
        self.peer = A2aPeer("Acme HR")
        self.addCleanup(self.peer.close)

    def play(self, kind: str, call: tuple[str, dict], *command: str) -> tuple[str, dict, list]:
        """What the program prints, and the run with the results that it got."""
        vendor = FakeModel([turn(calls=[call]), turn("All done.")])
        self.addCleanup(vendor.stop)
        entry = model_entry("responses", vendor.url, id="gpt", vendorModelId="gpt-5.5")
        server = self.start_server([], {"models": [entry], "defaultModel": "gpt"})
        program = start_node("worked_examples.mjs", server.url, server.workspace, server.key, kind,
                             self.peer.url, *command)
        self.addCleanup(program.kill)
        printed = program.communicate(timeout=SECONDS_MAX)[0]
        self.assertEqual(program.returncode, 0)
        client = server.client()
        run = client.request("GET", "/agent-runs").json()["runs"][0]["runId"]
        events = client.request("GET", f"/agent-runs/{run}/events").json()["events"]
        results = [event["result"] for event in events if event["type"] == "local_tool_result_in"]
        snapshot = client.snapshot(run)
        self.check_data(server)
        return printed, snapshot, results

    def test_an_agent_that_only_the_client_reaches(self):
        printed, run, results = self.play("a2a_local", ("intranet_hr_agent",
                                                        {"message": "PTO of Alice?"}))
        self.assertEqual(printed, "All done.\n")
        self.assertEqual(results, ["You asked: PTO of Alice?"])
        self.assertEqual((run["spec"]["modelId"], run["model"]["vendorModelId"]),
                         (MODEL, "gpt-5.5"))
        self.assertEqual(self.peer.headers[0]["Authorization"], "Bearer intranet-token")

    def test_an_mcp_server_that_only_the_client_reaches(self):
        with tempfile.TemporaryDirectory(prefix="errand-test-") as folder:
            hosts = Path(folder).resolve() / "hosts"
            hosts.write_text("127.0.0.1 localhost\n")
            printed, run, results = self.play(
                "mcp_local", ("read_text_file", {"path": str(hosts)}),
                str(NODE), package("server-filesystem"), str(hosts.parent))
        self.assertEqual(printed, "All done.\n")
        self.assertEqual(results, ["127.0.0.1 localhost\n"])
        self.assertEqual(run["spec"]["modelId"], MODEL)
