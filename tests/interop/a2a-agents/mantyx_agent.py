"""An agent of an Errand server as the agent-runs SDK's own A2A server offers it. Prints its port.
Usage: mantyx_agent.py URL KEY AGENT"""

import asyncio
import socket
import sys

from mantyx import AsyncMantyxClient
from mantyx.a2a_server import build_agent_card, serve_agent_over_a2a


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


async def main(url: str, key: str, agent: str) -> None:
    port = free_port()
    async with AsyncMantyxClient(api_key=key, workspace_slug="default", base_url=url) as client:
        card = build_agent_card(name="mantyx", description="Answers.", version="1.0.0",
                                public_url=f"http://127.0.0.1:{port}")
        handle = await serve_agent_over_a2a(client=client, host="127.0.0.1", port=port,
                                            agent_card=card, agent_id=agent)
        print(port, flush=True)
        await handle.serve_forever()


asyncio.run(main(*sys.argv[1:]))
