"""A proxy on FastMCP, which serves MCP servers over HTTP: proxy.py CONFIGURATION. Prints its port
first. Tools are named SERVER_TOOL if there are several servers."""

import json
import socket
import sys

from fastmcp.server import create_proxy

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
# The servers behind it speak the legacy era, whatever the client in front of it speaks.
proxy = create_proxy(json.loads(sys.argv[1]), mode="auto", name="proxy")
print(port, flush=True)
proxy.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
