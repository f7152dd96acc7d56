"""The client that the MCP conformance suite runs: calls what the scenario wants, through mcp_probe.

Usage: conformance_client.py PROBE URL
"""

import json
import os
import subprocess
import sys

CALLS = {
    "tools_call": [("add_numbers", {"a": 5, "b": 3})],
    "elicitation-sep1034-client-defaults": [("test_client_elicitation_defaults", {})],
    "sse-retry": [("test_reconnection", {})],
    "http-standard-headers": [("test_headers", {})],
    "http-invalid-tool-headers": [("valid_tool", {"region": "us"})],
    "sep-2322-client-request-state": [("test_mrtr_echo_state", {}), ("test_mrtr_unrelated", {}),
                                      ("test_mrtr_no_state", {}), ("test_mrtr_no_result_type", {})],
}


def main(probe: str, url: str) -> int:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    calls = CALLS.get(os.environ["MCP_CONFORMANCE_SCENARIO"], [])
    calls += [(call["name"], call["arguments"]) for call in context.get("toolCalls", [])]
    lines = "".join(json.dumps({"tool": tool, "arguments": arguments}) + "\n"
                    for tool, arguments in calls)
    return subprocess.run([probe, url], input=lines, text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
