"""An MCP server on FastMCP: server.py stdio | http. Over HTTP it prints its port first."""

import socket
import sys

from fastmcp import Context, FastMCP

mcp = FastMCP("fast")


@mcp.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool
def forecast(city: str) -> dict:
    """Tells the weather."""
    return {"city": city, "celsius": 7}


@mcp.tool
async def count(to: int, context: Context) -> str:
    """Counts, and tells how far it is."""
    for n in range(1, to + 1):
        await context.report_progress(n, to)
    return f"counted to {to}"


@mcp.tool
def fail() -> str:
    """Fails."""
    raise ValueError("it broke")


if sys.argv[1] == "stdio":
    mcp.run(transport="stdio", show_banner=False)
else:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print(port, flush=True)
    mcp.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
