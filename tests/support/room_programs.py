"""Programs that take part in rooms on the clients of others; all take the commands of peer.mjs."""

import subprocess

from support.node import INTEROP, NodePeer
from support.server import die_with_parent

ROOMS = INTEROP / "rooms"
ENVIRONMENTS = INTEROP.parent.parent / "build" / "rooms-python"


class ProgramPeer(NodePeer):
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=die_with_parent)
