"""The protocol's worked examples: tools of kinds `a2a_local` and `mcp_local`, there and back."""

from support.node import SECONDS_MAX, ensure_modules, start_node
from support.script import turn
from support.server import ServerCase


class WorkedExamplesTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        ensure_modules()

    def play(self, kind: str, call: tuple[str, dict]) -> tuple[str, list[dict]]:
        """What the program prints, and the results that the run got."""
        server = self.start_server([turn(calls=[call]), turn("All done.")])
        program = start_node("worked_examples.mjs", server.url, server.workspace, server.key, kind)
        self.addCleanup(program.kill)
        printed = program.communicate(timeout=SECONDS_MAX)[0]
        self.assertEqual(program.returncode, 0)
        client = server.client()
        run = client.request("GET", "/agent-runs").json()["runs"][0]["runId"]
        events = client.request("GET", f"/agent-runs/{run}/events").json()["events"]
        results = [event for event in events if event["type"] == "local_tool_result_in"]
        self.check_data(server)
        return printed, results

    def test_an_agent_that_only_the_client_reaches(self):
        printed, results = self.play("a2a_local", ("intranet_hr_agent",
                                                   {"message": "PTO of Alice?"}))
        self.assertEqual(printed, "All done.\n")
        self.assertEqual([one["result"] for one in results], ["You asked: PTO of Alice?"])

    def test_an_mcp_server_that_only_the_client_reaches(self):
        printed, results = self.play("mcp_local", ("fs_read", {"path": "/etc/hosts"}))
        self.assertEqual(printed, "All done.\n")
        self.assertEqual([one["result"] for one in results],
                         ["fs_read /etc/hosts\n127.0.0.1 localhost"])
