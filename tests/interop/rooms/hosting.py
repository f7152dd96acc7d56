"""Hosts the toolkit `clock` in the ways of the package that last until SIGTERM.

Usage: hosting.py connect ROOM
       hosting.py service PORT SECRET

`connect` joins the room at once, as the environment says: MESHAGENT_API_URL, and MESHAGENT_TOKEN or
the parts of a room key. `service` is called into rooms at /clock; SECRET is that of the room key
with which calls are signed.
"""

import asyncio
import sys

from meshagent.api.messaging import JsonContent
from meshagent.api.room_server_client import RoomClient
from meshagent.api.services import ServiceHost
from meshagent.tools import Toolkit, connect_remote_toolkit, start_hosted_toolkit, tool


@tool(name="get_time")
async def get_time(city: str) -> JsonContent:
    """The time in a city."""
    return JsonContent(json={"city": city, "time": "12:00"})


def clock() -> Toolkit:
    return Toolkit(name="clock", tools=[get_time])


class Clock:
    """What the service starts for each room that calls it."""

    async def start(self, *, room: RoomClient) -> None:
        self.hosted = await start_hosted_toolkit(room=room, toolkit=clock())

    async def stop(self) -> None:
        await self.hosted.stop()


async def serve(port: str, secret: str) -> None:
    service = ServiceHost(host="127.0.0.1", port=int(port), webhook_secret=secret)
    service.add_path("/clock", cls=Clock)
    await service.run()


match sys.argv[1:]:
    case ["connect", room]:
        asyncio.run(connect_remote_toolkit(room_name=room, toolkit=clock()))
    case ["service", port, secret]:
        asyncio.run(serve(port, secret))
    case _:
        sys.exit(__doc__)
