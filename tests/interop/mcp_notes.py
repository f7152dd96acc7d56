"""A small MCP server over stdin and stdout, with the official MCP package."""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

NOTES = {"milk": "Buy two litres.", "rent": "Due on Friday."}

server = MCPServer("notes-server", version="1.2.3", log_level="ERROR")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def find(word: str) -> str:
    """Finds a note."""
    if word not in NOTES:
        raise ToolError(f"no note says {word}")
    return NOTES[word]


if __name__ == "__main__":
    server.run()
