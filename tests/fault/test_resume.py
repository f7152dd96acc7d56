"""A stream that is cut anywhere goes on where it was, byte for byte."""

from support.http import Client, EventStream, Frame
from support.script import local_tool, turn
from support.server import ServerCase

DELTAS = 250
SCRIPT = [
    turn(*(f"a{n} " for n in range(DELTAS)), calls=[("look", {"path": "a"})]),
    turn(*(f"b{n} " for n in range(DELTAS)), calls=[("look", {"path": "b"})]),
    turn("Both ", "read."),
]


def answer_call(client: Client, run: str, frame: Frame) -> None:
    fields = frame.json()
    response = client.answer(run, fields["toolUseId"], result=f"text of {fields['args']['path']}")
    assert response.status == 204, response


class CutStream:
    """Reads a run over many connections, each good for one event and part of the next."""

    def __init__(self, client: Client, run: str):
        self.client = client
        self.run = run
        self.frames: list[Frame] = []
        self.connections = 0

    def read(self, answers_calls: bool) -> bytes:
        while True:
            by = "query" if self.connections % 2 else "header"
            after = self.frames[-1].seq if self.frames else 0
            with self.client.stream(self.run, after, by) as stream:
                self.connections += 1
                if not self.read_one(stream, answers_calls):
                    return b"".join(frame.raw for frame in self.frames)

    def read_one(self, stream: EventStream, answers_calls: bool) -> bool:
        frame = stream.next()
        if frame is None:
            return False
        self.frames.append(frame)
        if answers_calls and frame.event == "local_tool_call":
            answer_call(self.client, self.run, frame)
        return frame.event != "result"


class ResumeTest(ServerCase):
    def setUp(self):
        server = self.start_server(SCRIPT)
        self.client = server.client()
        self.run_id = self.client.create(prompt="Read both.", tools=[local_tool("look",
                                                                               path="string")])

    def test_a_running_stream_cut_at_every_event_joins_to_the_uncut_one(self):
        cut = CutStream(self.client, self.run_id)
        joined = cut.read(answers_calls=True)
        uncut = b"".join(frame.raw for frame in self.client.log(self.run_id))
        self.assertEqual(joined, uncut)
        self.assertEqual(cut.connections, len(cut.frames))
        self.assertGreater(len(cut.frames), 2 * DELTAS)

    def test_a_finished_stream_cut_at_every_event_joins_to_the_uncut_one(self):
        with self.client.stream(self.run_id) as stream:
            live = []
            for frame in stream:
                live.append(frame)
                if frame.event == "local_tool_call":
                    answer_call(self.client, self.run_id, frame)
        joined = CutStream(self.client, self.run_id).read(answers_calls=False)
        self.assertEqual(joined, b"".join(frame.raw for frame in live))

    def test_the_later_of_header_and_query_counts(self):
        with self.client.stream(self.run_id) as stream:
            frames = stream.until("local_tool_call")
        headers = {"Last-Event-ID": str(frames[-2].seq)}
        answer_call(self.client, self.run_id, frames[-1])
        with self.client.stream(self.run_id, frames[-1].seq) as stream:
            second = stream.until("local_tool_call")[-1]
        answer_call(self.client, self.run_id, second)
        whole = self.client.log(self.run_id)
        response = self.client.request(
            "GET", f"/agent-runs/{self.run_id}/stream?lastSeq={frames[3].seq}", headers=headers)
        expected = b"".join(frame.raw for frame in whole[frames[-2].seq :])
        self.assertEqual(response.body, expected)
