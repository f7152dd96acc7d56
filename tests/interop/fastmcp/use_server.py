"""FastMCP as a client: use_server.py URL KEY | use_server.py -- COMMAND... Prints what it got as
one line of JSON."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


async def use(transport) -> dict:
    async with Client(transport) as client:
        tools = await client.list_tools()
        result = await client.call_tool("calculator", {"expression": "2+3*4"})
        wrong = await client.call_tool("calculator", {"expression": 7}, raise_on_error=False)
        resources = await client.list_resource_templates()
        return {"tools": sorted(tool.name for tool in tools),
                "text": result.content[0].text, "wrong": wrong.is_error,
                "templates": [str(one.uriTemplate) for one in resources]}


if sys.argv[1] == "--":
    to = StdioTransport(command=sys.argv[2], args=sys.argv[3:])
else:
    to = StreamableHttpTransport(sys.argv[1], auth=sys.argv[2])
print(json.dumps(asyncio.run(use(to))))
