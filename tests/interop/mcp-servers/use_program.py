"""The official Python SDK as a client of a program: use_program.py COMMAND ARGUMENT... Prints what
it got from a workspace as one line of JSON."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client


async def use(command: str, arguments: list[str]) -> dict:
    async with stdio_client(StdioServerParameters(command=command, args=arguments)) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            about = await session.initialize()
            tools = await session.list_tools()
            result = await session.call_tool("calculator", {"expression": "2+3*4"})
            return {"name": about.server_info.name, "tools": [tool.name for tool in tools.tools],
                    "sum": result.content[0].text}


print(json.dumps(asyncio.run(use(sys.argv[1], sys.argv[2:]))))
