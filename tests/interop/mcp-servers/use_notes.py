"""The official Python SDK as a client of examples/mcp_server: use_notes.py PROGRAM | URL. Prints
what it got as one line of JSON."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


def connect(target: str):
    if target.startswith("http://"):
        return streamable_http_client(target)
    return stdio_client(StdioServerParameters(command=target))


async def use(target: str) -> dict:
    async with connect(target) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            about = await session.initialize()
            tools = await session.list_tools()
            added = await session.call_tool("add_note", {"name": "desk", "text": "It wobbles."})
            prompt = await session.get_prompt("explain", {"note": "desk"})
            read = await session.read_resource("note://desk")
            return {"server": about.server_info.name, "tools": [tool.name for tool in tools.tools],
                    "added": added.structured_content,
                    "prompt": prompt.messages[0].content.text, "read": read.contents[0].text}


print(json.dumps(asyncio.run(use(sys.argv[1]))))
