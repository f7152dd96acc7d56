"""The official Python SDK as a client of an Errand workspace: use_workspace.py URL KEY. Prints what
it got as one line of JSON."""

import asyncio
import json
import sys

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def use(url: str, key: str) -> dict:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                about = await session.initialize()
                tools = await session.list_tools()
                result = await session.call_tool("calculator", {"expression": "2+3*4"})
                return {"name": about.server_info.name,
                        "tools": sorted(tool.name for tool in tools.tools),
                        "sum": result.content[0].text}


print(json.dumps(asyncio.run(use(sys.argv[1], sys.argv[2]))))
